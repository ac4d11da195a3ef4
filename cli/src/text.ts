// Numbers and tables for people to read.

import Table from "cli-table3";
import { colors } from "./colors.js";

const UNITS = ["B", "KB", "MB", "GB", "TB", "PB"];

/** 1234567 as 1.23 MB: three digits, in powers of 1000. */
export function bytesText(bytes: number): string {
  let value = Math.abs(bytes), unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${bytes < 0 ? "-" : ""}${value.toFixed(digits)} ${UNITS[unit]}`;
}

export const countText = (count: number | bigint): string => count.toLocaleString("en-US");

/** A share of a whole as a percentage. */
export const shareText = (part: number, whole: number): string => (whole === 0 ? "" : `${Math.round(part / whole * 100)} %`);

/** 75.3 as 1 min 15 s. */
export function durationText(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds), minutes = Math.floor(whole / 60), hours = Math.floor(minutes / 60);
  return hours > 0 ? `${hours} h ${minutes % 60} min` : minutes > 0 ? `${minutes} min ${whole % 60} s` : `${whole} s`;
}

export interface Column {
  title: string;
  align?: "left" | "right";
  /** The most characters of its cells; longer ones are cut. */
  width?: number;
}

const cut = (text: string, width: number | undefined): string => (width && text.length > width ? `${text.slice(0, width - 1)}…` : text);

/** Columns without lines around them. */
export function tableText(columns: Column[], rows: string[][]): string {
  const table = new Table({
    head: columns.map(({ title }) => colors.bold(title)),
    colAligns: columns.map(({ align }) => align ?? "left"),
    chars: {
      top: "", "top-mid": "", "top-left": "", "top-right": "", bottom: "", "bottom-mid": "", "bottom-left": "", "bottom-right": "",
      left: "", "left-mid": "", mid: "", "mid-mid": "", right: "", "right-mid": "", middle: "  ",
    },
    style: { head: [], border: [], "padding-left": 0, "padding-right": 0 },
  });
  table.push(...rows.map((row) => row.map((cell, i) => cut(cell, columns[i]?.width))));
  return table.toString().split("\n").map((line) => line.trimEnd()).join("\n");
}
