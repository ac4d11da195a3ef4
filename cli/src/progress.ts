// A progress bar on standard error, if that is a terminal.

import { Presets, SingleBar } from "cli-progress";
import { countText, durationText } from "./text.js";

export class Progress {
  readonly #bar: SingleBar | undefined;
  readonly #begun = performance.now();

  constructor(what: string, isWanted = true) {
    if (!isWanted || !process.stderr.isTTY) return;
    const format = (_: object, { progress, value, total }: { progress: number; value: number; total: number }): string => {
      const seconds = (performance.now() - this.#begun) / 1000, rate = seconds > 0 ? value / seconds : 0, width = 30;
      const filled = Math.round(Math.min(1, progress) * width), left = rate > 0 && total > value ? `, ${durationText((total - value) / rate)} left` : "";
      return `${"█".repeat(filled)}${"░".repeat(width - filled)} ${countText(value)} of ${countText(total)} ${what}, ${countText(Math.round(rate))}/s${left}`;
    };
    const options = { format, hideCursor: true, clearOnComplete: true, stream: process.stderr, gracefulExit: false };
    this.#bar = new SingleBar(options, Presets.shades_classic);
    this.#bar.start(1, 0);
  }

  show(done: number, expected: number): void {
    this.#bar?.setTotal(Math.max(expected, done, 1));
    this.#bar?.update(done);
  }

  end(): void { this.#bar?.stop(); }
}
