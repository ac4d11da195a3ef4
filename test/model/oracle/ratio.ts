// Ratios as replies of JACCARD and FACET.

/**
 * Formats a fraction like %.17g in C. A double has finitely many decimal digits; they are cut after the 17th and rounded, to an even
 * digit if the rest is exactly one half. (JavaScript's own functions round one half up.)
 */
function general(value: number): string {
  let twos = 0;
  for (; !Number.isInteger(value); twos++) value *= 2;
  let digits = (BigInt(value) * 5n ** BigInt(twos)).toString(), exponent = digits.length - 1 - twos;
  if (digits.length > 17) {
    const head = BigInt(digits.slice(0, 17)), rest = digits.slice(17), half = "5".padEnd(rest.length, "0");
    digits = (head + BigInt(rest > half || (rest === half && head % 2n === 1n))).toString();
    exponent += digits.length - 17;
  }
  digits = digits.replace(/0+$/, "");
  if (exponent >= 0) return digits;           // only 1: a fraction is never greater
  if (exponent >= -4) return `0.${"0".repeat(-exponent - 1)}${digits}`;
  return `${digits[0]}${digits.length > 1 ? `.${digits.slice(1)}` : ""}e-${String(-exponent).padStart(2, "0")}`;
}

/** The ratio as a string: exact if it has at most nine decimal places; -1 if there is none. */
export function ratio(part: bigint, whole: bigint): string {
  if (whole === 0n) return "-1";
  for (let digits = 0, scaled = part; digits <= 9; digits++, scaled *= 10n) {
    if (scaled % whole !== 0n) continue;
    const text = String(scaled / whole).padStart(digits + 1, "0");
    return digits === 0 ? text : `${text.slice(0, -digits)}.${text.slice(-digits)}`;
  }
  return general(Number(part) / Number(whole));
}
