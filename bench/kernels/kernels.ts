// The kernels that `make bench-kernels` times, and a function that selects what they read.

import { left, right } from "../../assembly/env/memory";

export {
  intersectBitsets as intersect, intersectBitsetsCardinality as intersectCardinality,
} from "../../assembly/container/bitset";

/** Makes the kernels read operands 0 and 1 until the next call of `enter`. */
export function showOperands(): void {
  left.select(0);
  right.select(1);
}
