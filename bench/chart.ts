// Bar charts on a logarithmic scale, as SVG. They include a background and colours for light and dark mode, so that they are legible
// on any page.

interface Bar {
  readonly label: string;
  readonly value: number;
}

interface Group {
  readonly title: string;
  readonly bars: readonly Bar[];
}

interface Chart {
  readonly title: string;
  readonly subtitle: string;
  readonly groups: readonly Group[];
  /** Formats the value that stands at the end of its bar. */
  readonly format: (value: number) => string;
  /** The value where bars begin, marked by a line. Bars of smaller values extend to the left. */
  readonly origin: number;
  readonly footnote: string;
}

const WIDTH = 860, MARGIN = 24, LABELS = 190, VALUES = 70;
const BAR = 16, STEP = 24, HEAD = 70, GROUP_HEAD = 34, FOOT = 64;

const STYLE = `
  text { font: 13px -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
  .title { font-size: 17px; font-weight: 600 }
  .group { font-weight: 600 }
  .quiet { fill: #59636e; font-size: 12px }
  .page { fill: #ffffff; stroke: #d1d9e0 }
  .grid { stroke: #d1d9e0 } .origin { stroke: #59636e }
  .more { fill: #1a7f64 } .less { fill: #c4652a }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .quiet { fill: #9198a1 }
    .page { fill: #0d1117; stroke: #3d444d }
    .grid { stroke: #2a313c } .origin { stroke: #9198a1 }
    .more { fill: #3fb594 } .less { fill: #e08a4f }
  }
`.trim();

const escape = (text: string): string => text.replace(/[&<>]/g, (character) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[character]!);

/** The origin, and the powers of ten from the least to the greatest value. */
function ticks(least: number, greatest: number, origin: number): number[] {
  const found = new Set([origin]);
  for (let power = Math.ceil(Math.log10(least)); power <= Math.floor(Math.log10(greatest)); power++) found.add(10 ** power);
  return [...found];
}

export function draw({ title, subtitle, groups, format, origin, footnote }: Chart): string {
  const values = groups.flatMap((group) => group.bars.map((bar) => bar.value));
  const least = Math.min(origin, ...values), greatest = Math.max(origin, ...values);
  const before = least < origin ? VALUES : 0;
  const left = MARGIN + LABELS + before, right = WIDTH - MARGIN - VALUES;
  const x = (value: number): number => left + (Math.log(value / least) / Math.log(greatest / least || 2)) * (right - left);
  const height = HEAD + groups.reduce((sum, group) => sum + GROUP_HEAD + group.bars.length * STEP, 0) + FOOT;
  const parts: string[] = [];
  const words = (at: number, y: number, text: string, attributes = ""): void =>
    void parts.push(`<text x="${at.toFixed(1)}" y="${y}" ${attributes}>${escape(text)}</text>`);

  words(MARGIN, 34, title, 'class="title"');
  words(MARGIN, 55, subtitle, 'class="quiet"');
  const bottom = height - FOOT + 4;
  for (const tick of ticks(least, greatest, origin)) {
    const at = x(tick).toFixed(1);
    parts.push(`<line class="${tick === origin ? "origin" : "grid"}" x1="${at}" x2="${at}" y1="${HEAD}" y2="${bottom}"/>`);
    words(x(tick), bottom + 16, format(tick), 'class="quiet" text-anchor="middle"');
  }
  let y = HEAD;
  for (const group of groups) {
    words(MARGIN, y + 22, group.title, 'class="group"');
    y += GROUP_HEAD;
    for (const { label, value } of group.bars) {
      const from = x(Math.min(value, origin)), to = x(Math.max(value, origin)), ahead = value >= origin;
      words(MARGIN + 12, y + 13, label);
      const kind = ahead ? "more" : "less", width = Math.max(1, to - from).toFixed(1);
      parts.push(`<rect class="${kind}" x="${from.toFixed(1)}" y="${y}" width="${width}" height="${BAR}" rx="2"/>`);
      words(ahead ? to + 6 : from - 6, y + 13, format(value), ahead ? "" : 'text-anchor="end"');
      y += STEP;
    }
  }
  words(MARGIN, height - 16, footnote, 'class="quiet"');
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" `
    + `role="img" aria-label="${escape(title)}">`,
    `<style>${STYLE}</style>`,
    `<rect class="page" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="6"/>`,
    ...parts,
    "</svg>",
    "",
  ].join("\n");
}
