// What the host calls. Memory 0 is the bitmap that a function works on, or the fresh arena that it makes one of (arena.ts).

export { get, set } from "./point";
export { getAll, add, subtract } from "./batch";
export { collect } from "./collect";
export { sort } from "./sort";
export { setRange, clearRange, flipRange } from "./range";
export { field, setField, addToField } from "./field";
export { isEmpty, cardinality, minimum, maximum, countRange, rank, select } from "./query";
export { countIndexed, position } from "./indexed";
export { members, membersFrom } from "./stream";
export { statistics } from "./statistics";
export { combine, combineCardinality, expectedBytes } from "./combine";
export { complement } from "./complement";
export { intersects, isSubset } from "./relate";
export { rewrite, pack, slice } from "./rewrite";
export { serializedBytes, serialize, deserialize } from "./format/index";
export { used, wasteful } from "./arena";
export { validate } from "./validate";
