// Charts of bars and of lines as SVG. Bars of ratios and lines are on logarithmic scales, bars of amounts on a linear one: on another, a
// bar of half the length would be no half. They include a background and colors for light and dark mode, so that they
// are legible on any page.

interface Bar {
  readonly label: string;
  readonly value: number;
  /** The color, by default `more` for values from the origin on, and else `less`. */
  readonly color?: "more" | "less";
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
  /** The value where bars begin, marked by a line: 0 for amounts, 1 for ratios. Bars of smaller ratios extend to the left. */
  readonly origin: 0 | 1;
  readonly footnote: string;
}

const WIDTH = 860, MARGIN = 24, LABELS = 190, VALUES = 70;
const BAR = 16, STEP = 24, HEAD = 70, GROUP_HEAD = 34, FOOT = 64;

const STYLE = `
  text { font: 13px -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
  .title { font-size: 17px; font-weight: 600 }
  .group { font-weight: 600; paint-order: stroke; stroke: #ffffff; stroke-width: 5px }
  .quiet { fill: #59636e; font-size: 12px }
  .page { fill: #ffffff; stroke: #d1d9e0 }
  .grid { stroke: #d1d9e0 } .origin { stroke: #59636e }
  .more { fill: #1a7f64 } .less { fill: #c4652a }
  .line { fill: none; stroke-width: 2 } .first { stroke-width: 5; stroke-opacity: .75 }
  .line0 { stroke: #1a7f64 } .line1 { stroke: #c4652a } .line2 { stroke: #7a5bb8 } .line3 { stroke: #6e7781 } .line4 { stroke: #bf3989 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .quiet { fill: #9198a1 } .group { stroke: #0d1117 }
    .page { fill: #0d1117; stroke: #3d444d }
    .grid { stroke: #2a313c } .origin { stroke: #9198a1 }
    .more { fill: #3fb594 } .less { fill: #e08a4f }
    .line0 { stroke: #3fb594 } .line1 { stroke: #e08a4f } .line2 { stroke: #b39ddb } .line3 { stroke: #9198a1 } .line4 { stroke: #f778ba }
  }
`.trim();

const escape = (text: string): string => text.replace(/[&<>]/g, (character) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[character]!);

/** The origin, and the powers of ten from the least to the greatest value; of amounts, quarters of a round number. */
function ticks(least: number, greatest: number, origin: number): number[] {
  const found = new Set([origin]);
  if (origin === 0) {
    const power = 10 ** Math.floor(Math.log10(greatest));
    const step = [0.25, 0.5, 1, 2].map((factor) => factor * power).find((one) => greatest / one <= 5)!;
    for (let tick = step; tick <= greatest; tick += step) found.add(tick);
    return [...found];
  }
  for (let power = Math.ceil(Math.log10(least)); power <= Math.floor(Math.log10(greatest)); power++) found.add(10 ** power);
  return [...found];
}

/** Adds texts to the parts of a chart. */
const writer = (parts: string[]) => (x: number, y: number, text: string, attributes = ""): void =>
  void parts.push(`<text x="${x.toFixed(1)}" y="${y}" ${attributes}>${escape(text)}</text>`);

export function draw({ title, subtitle, groups, format, origin, footnote }: Chart): string {
  const values = groups.flatMap((group) => group.bars.map((bar) => bar.value));
  const least = Math.min(origin, ...values), greatest = Math.max(origin, ...values);
  const before = least < origin ? VALUES : 0;
  const left = MARGIN + LABELS + before, right = WIDTH - MARGIN - VALUES;
  const share = (value: number): number => (origin === 0 ? value / greatest : Math.log(value / least) / Math.log(greatest / least || 2));
  const x = (value: number): number => left + share(value) * (right - left);
  const height = HEAD + groups.reduce((sum, group) => sum + GROUP_HEAD + group.bars.length * STEP, 0) + FOOT;
  const parts: string[] = [];
  const words = writer(parts);
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
    for (const { label, value, color } of group.bars) {
      const from = x(Math.min(value, origin)), to = x(Math.max(value, origin)), ahead = value >= origin;
      words(MARGIN + 12, y + 13, label);
      const kind = color ?? (ahead ? "more" : "less"), width = Math.max(1, to - from).toFixed(1);
      parts.push(`<rect class="${kind}" x="${from.toFixed(1)}" y="${y}" width="${width}" height="${BAR}" rx="2"/>`);
      words(ahead ? to + 6 : from - 6, y + 13, format(value), ahead ? "" : 'text-anchor="end"');
      y += STEP;
    }
  }
  words(MARGIN, height - 16, footnote, 'class="quiet"');
  return svg(title, height, parts);
}

const svg = (title: string, height: number, parts: readonly string[]): string => [
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" `
  + `role="img" aria-label="${escape(title)}">`,
  `<style>${STYLE}</style>`,
  `<rect class="page" x="0.5" y="0.5" width="${WIDTH - 1}" height="${height - 1}" rx="6"/>`,
  ...parts,
  "</svg>",
  "",
].join("\n");

interface Line {
  readonly label: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

interface Panel {
  readonly title: string;
  /** At most five lines, of which the first one is emphasized. Lines in the same place have the same color in all panels. */
  readonly lines: readonly Line[];
}

interface LineChart {
  readonly title: string;
  readonly subtitle: string;
  /** Panels side by side, which share both scales. */
  readonly panels: readonly Panel[];
  readonly xTitle: string;
  readonly formatX: (value: number) => string;
  readonly formatY: (value: number) => string;
  readonly footnote: string;
}

const PLOT = 300, SCALE = 64, APART = 44, LEGEND = 30;

/** The powers of ten within these bounds; if there are fewer than three, twice and five times powers of ten, too. */
function marks(least: number, greatest: number): number[] {
  const first = Math.floor(Math.log10(least)), last = Math.floor(Math.log10(greatest));
  const within = (factors: readonly number[]): number[] => Array.from({ length: last - first + 1 }, (_, i) => first + i)
    .flatMap((power) => factors.map((factor) => factor * 10 ** power)).filter((mark) => mark >= least && mark <= greatest);
  const powers = within([1]);
  return powers.length < 3 ? within([1, 2, 5]) : powers;
}

export function drawLines({ title, subtitle, panels, xTitle, formatX, formatY, footnote }: LineChart): string {
  const points = panels.flatMap(({ lines }) => lines.flatMap((line) => line.points));
  const [leastX, greatestX] = [Math.min(...points.map(([x]) => x)), Math.max(...points.map(([x]) => x))];
  const [leastY, greatestY] = [Math.min(...points.map(([, y]) => y)), Math.max(...points.map(([, y]) => y))];
  const top = HEAD + LEGEND + 20, bottom = top + PLOT, height = bottom + FOOT + 16;
  const width = (WIDTH - 2 * MARGIN - SCALE - (panels.length - 1) * APART) / panels.length;
  const along = (value: number, least: number, greatest: number): number => Math.log(value / least) / Math.log(greatest / least || 2);
  const y = (value: number): string => (bottom - along(value, leastY, greatestY) * PLOT).toFixed(1);
  const parts: string[] = [];
  const words = writer(parts);
  words(MARGIN, 34, title, 'class="title"');
  words(MARGIN, 55, subtitle, 'class="quiet"');
  const labels = [...new Map(panels.flatMap(({ lines }) => lines.map(({ label }, i) => [i, label] as const))).entries()];
  for (const [i, label] of labels) {
    const from = MARGIN + i * (WIDTH - 2 * MARGIN) / labels.length;
    parts.push(`<path class="line line${i}${i === 0 ? " first" : ""}" d="M${from},${HEAD + 12}h26"/>`);
    words(from + 34, HEAD + 16, label);
  }
  for (const tick of marks(leastY, greatestY)) {
    parts.push(`<line class="grid" x1="${MARGIN + SCALE}" x2="${WIDTH - MARGIN}" y1="${y(tick)}" y2="${y(tick)}"/>`);
    words(MARGIN + SCALE - 8, Number(y(tick)) + 4, formatY(tick), 'class="quiet" text-anchor="end"');
  }
  for (const [at, panel] of panels.entries()) {
    const left = MARGIN + SCALE + at * (width + APART), x = (value: number): number => left + along(value, leastX, greatestX) * width;
    words(left, top - 10, panel.title, 'class="group"');
    for (const tick of marks(leastX, greatestX)) {
      parts.push(`<line class="grid" x1="${x(tick).toFixed(1)}" x2="${x(tick).toFixed(1)}" y1="${top}" y2="${bottom}"/>`);
      words(x(tick), bottom + 18, formatX(tick), 'class="quiet" text-anchor="middle"');
    }
    words(left + width / 2, bottom + 38, xTitle, 'class="quiet" text-anchor="middle"');
    // The first line is the widest and lies below the others, so that one in the same place is seen, too.
    for (const [i, line] of panel.lines.entries()) {
      const path = line.points.map((point) => `${x(point[0]).toFixed(1)},${y(point[1])}`).join("L");
      parts.push(`<path class="line line${i}${i === 0 ? " first" : ""}" d="M${path}"/>`);
    }
  }
  words(MARGIN, height - 16, footnote, 'class="quiet"');
  return svg(title, height, parts);
}
