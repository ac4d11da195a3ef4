// The functions that the host calls. Memory 0 is the bitmap that a function works on,
// or a fresh arena that it builds one in (arena/layout/header.ts).

export { set } from "./write/point";
export { getAll } from "./write/batch/get";
export { addAll } from "./write/batch/add";
export { removeAll } from "./write/batch/remove";
export { merge } from "./write/merge/merge";
export { makeRemovable, settle, takeBack, tidy } from "./write/undo";
export { collect } from "./combine/rebuild/collect";
export { sort, sortUnlessSparse } from "./sort";
export { changeRange } from "./write/range";
export { field, setField, addToField, takeBackField } from "./write/field";
export { planFields, changeWords, takeBackWords } from "./write/fields";
export { get, countRange, minimum, select } from "./read/query";
export { countIndexed, position } from "./read/indexed";
export { membersFrom } from "./read/stream";
export { countRuns, runsBetween } from "./read/spans";
export { selectAll } from "./read/sample";
export { statistics } from "./read/statistics";
export { combine, combineCardinality, unite } from "./combine/combine";
export { parseQuery, query, queryCardinality, queryMembers, queryMembersDown } from "./combine/query";
export { complement } from "./combine/rebuild/complement";
export { rebuildRange } from "./combine/rebuild/range";
export { intersects, isSubset } from "./combine/compare/relate";
export { shareAll } from "./combine/compare/facet";
export { rank } from "./combine/compare/ranking";
export { cuts } from "./combine/walk/cuts";
export { cross } from "./combine/compare/cross";
export { slice } from "./combine/rebuild/rewrite";
export { shift } from "./combine/rebuild/shift";
export { serializedBytes, serialize, deserialize } from "./format/index";
export { readBitsFrom } from "./format/text";
export { decodeBase64 } from "./format/base64";
export {
  eitherCardinality as cardinality, eitherIsEmpty as isEmpty, eitherMaximum as maximum, eitherPack as pack,
  eitherRewrite as rewrite, eitherShrunkBytes as shrunkBytes, eitherStart as start, eitherUsed as used,
  eitherValidate as validate, eitherWasteful as wasteful,
} from "./values/either";
export { changeValue, valueOf } from "./values/point";
export { askValues, countValues } from "./values/ask";
export { comparisons, idsCompared } from "./values/compare";
export { mergeValues } from "./values/merge";
export { valuesWithout } from "./values/without";
export { countNames, findNames, nameFrom } from "./names/dictionary";
export { listNames } from "./names/list";
export { addNames, removeNames, takeBackNames } from "./names/change";
export { namesBytes, readNames, writeNames } from "./names/payload";
export { validateNames } from "./names/validate";
