// What can be wrong with a payload or an arena. The texts are the doc comments: the host's messages are generated from them.

export const enum Fault {
  /** nothing */
  NONE,
  /** it ends before all that it announces */
  CUT_SHORT,
  /** bytes follow its end */
  TRAILING_BYTES,
  /** it begins with an unknown cookie */
  UNKNOWN_COOKIE,
  /** it announces more containers than there are keys */
  TOO_MANY_CONTAINERS,
  /** container keys are not ascending */
  KEYS_NOT_ASCENDING,
  /** a container's offset is not where the container is */
  WRONG_OFFSET,
  /** an array's members are not ascending */
  ARRAY_NOT_ASCENDING,
  /** a bitset does not hold as many members as its cardinality says */
  BITSET_CARDINALITY,
  /** a container has no run */
  NO_RUNS,
  /** runs are not ascending with a gap between them */
  RUNS_NOT_ASCENDING,
  /** a run goes beyond its container */
  RUN_TOO_LONG,
  /** runs do not hold as many members as their cardinality says */
  RUNS_CARDINALITY,
  /** the arena's form is unknown */
  UNKNOWN_FORM,
  /** a tiny arena holds what only a full one may */
  NOT_TINY,
  /** the bump mark lies outside the arena */
  BUMP_OUTSIDE,
  /** bytes are held back though nothing is being built */
  HELD_BACK,
  /** a block lies outside the arena's used part or not on a multiple of 8 */
  BLOCK_MISPLACED,
  /** blocks in use and freed ones do not add up to the arena's used part */
  BYTES_UNACCOUNTED,
  /** the free lists do not hold what they are said to */
  FREE_LISTS,
  /** a node's level does not fit its place */
  NODE_LEVEL,
  /** a node holds nothing, or more than it may */
  NODE_COUNT,
  /** directory keys are not ascending */
  DIRECTORY_NOT_ASCENDING,
  /** a slot's key is not the least below it */
  SLOT_KEY,
  /** a slot's cardinality is not the sum below it */
  SLOT_CARDINALITY,
  /** the header's cardinality is not the sum of the containers */
  TOTAL_CARDINALITY,
  /** the header's number of entries is not that of the directory */
  TOTAL_ENTRIES,
  /** an entry's kind is unknown */
  UNKNOWN_KIND,
  /** buckets do not hold as many members as their cardinality says, or not in ascending order */
  BUCKETS_UNSOUND,
  /** a container is not in the form that its cardinality asks for */
  WRONG_FORM,
  /** a key lies beyond the greatest */
  KEY_TOO_GREAT,
  /** it is longer than a bitmap can be */
  TOO_LONG,
}
