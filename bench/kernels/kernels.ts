// What `make bench-kernels` times: the core's bitset kernels, with a way to choose what they read.

import { left, right } from "../../assembly/env/memory";

export { intersectBitsets as intersect, intersectBitsetsCardinality as intersectCardinality } from "../../assembly/container/bitset";

/** Makes the kernels read operands 0 and 1, until the host enters again. */
export function showOperands(): void {
  left.select(0);
  right.select(1);
}
