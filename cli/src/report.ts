// What advise found: as a table, as JSON, and as a page with charts.

import { type Advice, type AdviceRow } from "./advising/rows.js";
import { colors } from "./colors.js";
import { bytesText, countText, durationText, shareText, tableText } from "./text.js";

const finite = (value: number): number | null => (Number.isFinite(value) ? value : null);

/** The advice as JSON; numbers are bytes and keys. */
export function jsonOf(advice: Advice): string {
  return JSON.stringify({ ...advice, rows: advice.rows.map((row) => ({ ...row, uncertainty: finite(row.uncertainty) })) }, null, 2);
}

function roaringText({ bytesRoaring, uncertainty }: AdviceRow): string {
  if (bytesRoaring === null) return "";
  return uncertainty === 0 ? bytesText(bytesRoaring) : `~${bytesText(bytesRoaring)}${Number.isFinite(uncertainty) ? ` ±${bytesText(uncertainty)}` : ""}`;
}

function savedText({ saved }: AdviceRow): string {
  if (saved === null) return "";
  const text = bytesText(saved);
  return saved > 0 ? colors.green(text) : saved < 0 ? colors.red(text) : text;
}

const lossText = ({ largerKeys, largerBytes }: AdviceRow): string => (largerKeys === 0 ? "" : `${countText(largerKeys)} by ${bytesText(largerBytes)}`);

/** At most so many rows are shown in a table. */
export function tableOf(advice: Advice, most: number): string {
  const shown = advice.rows.slice(0, most);
  const table = tableText([
    { title: "keys like", width: 48 }, { title: "holding" }, { title: "keys", align: "right" }, { title: "now", align: "right" },
    { title: "as roaring", align: "right" }, { title: "family" }, { title: "saved", align: "right" }, { title: "", align: "right" },
    { title: "larger", align: "right" },
  ], shown.map((row) => [
    row.pattern, row.kind, countText(row.keys), bytesText(row.bytesNow), roaringText(row), row.family ?? "", savedText(row),
    row.saved === null ? "" : shareText(row.saved, row.bytesNow), lossText(row),
  ]));
  return [table, ...summaryOf(advice, advice.rows.length - shown.length)].join("\n");
}

function summaryOf(advice: Advice, hidden: number): string[] {
  const { keys, seconds, bytesNow, bytesConvertible, bytesRoaring, vanished, notPermitted } = advice;
  const saved = bytesConvertible - bytesRoaring;
  const losing = advice.rows.filter((row) => row.largerKeys > 0);
  const lines = ["", `${countText(keys)} keys in ${durationText(seconds)}, ${bytesText(bytesNow)} with their names${advice.isPartial ? ", interrupted before the end" : ""}`];
  if (hidden > 0) lines.push(`${countText(hidden)} more groups are not shown; --top ${advice.rows.length} shows them`);
  if (bytesConvertible > 0) {
    lines.push(`${bytesText(bytesConvertible)} can be converted, and would take ${bytesText(bytesRoaring)}: ${saved >= 0 ? `${bytesText(saved)} saved (${shareText(saved, bytesConvertible)})` : `${bytesText(-saved)} more`}`);
  } else {
    lines.push("nothing here would be smaller as roaring bitmaps or as integers for ids");
  }
  if (losing.length > 0) {
    const bytes = losing.reduce((sum, row) => sum + row.largerBytes, 0), larger = losing.reduce((sum, row) => sum + row.largerKeys, 0);
    lines.push(`${countText(larger)} keys are smaller as they are, by ${bytesText(bytes)} together; convert leaves them alone`);
  }
  if (vanished > 0) lines.push(`${countText(vanished)} keys went away or changed their type while they were read`);
  if (notPermitted > 0) lines.push(`${countText(notPermitted)} keys may not be read by this user`);
  return [...lines, ...advice.notes.map((note) => `note: ${note}`)];
}

const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

const LIGHT = "#c9d3dc", STRONG = "#1f77b4", ROW = 34, LEFT = 330, WIDTH = 420;

/** Two bars for each group: now, and as roaring bitmaps. */
function chart(rows: AdviceRow[]): string {
  const greatest = Math.max(1, ...rows.map(({ bytesNow, bytesRoaring }) => Math.max(bytesNow, bytesRoaring ?? 0)));
  const bar = (bytes: number, y: number, color: string, title: string): string => {
    const width = Math.max(1, bytes / greatest * WIDTH);
    return `<rect x="${LEFT}" y="${y}" width="${width.toFixed(1)}" height="12" fill="${color}"><title>${escaped(title)}</title></rect>`
      + `<text x="${(LEFT + width + 6).toFixed(1)}" y="${y + 10}" class="value">${escaped(bytesText(bytes))}</text>`;
  };
  const lines = rows.map((row, i) => {
    const y = i * ROW, name = row.pattern.length > 44 ? `${row.pattern.slice(0, 43)}…` : row.pattern;
    return `<text x="${LEFT - 10}" y="${y + 18}" text-anchor="end">${escaped(name)}</text>`
      + bar(row.bytesNow, y + 2, LIGHT, `${row.pattern} now`) + bar(row.bytesRoaring ?? 0, y + 15, STRONG, `${row.pattern} as roaring bitmaps`);
  });
  return `<svg viewBox="0 0 ${LEFT + WIDTH + 90} ${rows.length * ROW + 4}" role="img" aria-label="Bytes of each group now and as roaring bitmaps">${lines.join("")}</svg>`;
}

/** A page of its own: nothing in it is loaded from elsewhere. */
export function pageOf(advice: Advice): string {
  const rows = advice.rows.filter((row) => row.isConvertible).slice(0, 40);
  const cells = (row: AdviceRow): string => [
    row.pattern, row.kind, countText(row.keys), bytesText(row.bytesNow), roaringText(row), row.family ?? "",
    row.saved === null ? "" : bytesText(row.saved), row.saved === null ? "" : shareText(row.saved, row.bytesNow), lossText(row),
  ].map((cell) => `<td>${escaped(cell)}</td>`).join("");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Roaring bitmaps: what they would save</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1000px; margin: 2em auto; padding: 0 1em; color: #222; background: #fff }
table { border-collapse: collapse; font-size: 13px; width: 100% }
td, th { padding: 3px 8px; border-bottom: 1px solid #ddd; text-align: right }
td:nth-child(1), td:nth-child(2), td:nth-child(6), th:nth-child(1), th:nth-child(2), th:nth-child(6) { text-align: left }
svg { width: 100%; font-size: 13px } .value { font-size: 11px; fill: #555 }
.key { display: inline-block; width: 12px; height: 12px; margin: 0 6px 0 16px }
</style>
</head>
<body>
<h1>What roaring bitmaps would save</h1>
<p>${escaped(advice.servers.join(", "))}</p>
<p>${summaryOf(advice, 0).filter(Boolean).map(escaped).join("<br>\n")}</p>
<h2>Memory of each group<span class="key" style="background: ${LIGHT}"></span><small>now</small><span class="key" style="background: ${STRONG}"></span><small>as roaring bitmaps</small></h2>
${rows.length > 0 ? chart(rows) : "<p>There is nothing to draw.</p>"}
<h2>All groups</h2>
<table>
<tr><th>keys like</th><th>holding</th><th>keys</th><th>now</th><th>as roaring</th><th>family</th><th>saved</th><th></th><th>larger</th></tr>
${advice.rows.map((row) => `<tr>${cells(row)}</tr>`).join("\n")}
</table>
</body>
</html>
`;
}
