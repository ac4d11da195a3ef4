// Everything that can be wrong with a payload or an arena. The doc comments are the texts of error messages,
// as in "ERR invalid roaring payload: it is truncated": the build generates the host's texts from them.

export const enum Fault {
  /** no fault */
  NONE,
  /** it is truncated */
  CUT_SHORT,
  /** it has trailing bytes */
  TRAILING_BYTES,
  /** it begins with an unknown cookie */
  UNKNOWN_COOKIE,
  /** it declares more than 65,536 containers in one 32-bit bitmap */
  TOO_MANY_CONTAINERS,
  /** container keys are not in ascending order */
  KEYS_NOT_ASCENDING,
  /** the offset header does not match the position of a container */
  WRONG_OFFSET,
  /** the members of an array are not in ascending order */
  ARRAY_NOT_ASCENDING,
  /** the cardinality of a bitset does not match its bits */
  BITSET_CARDINALITY,
  /** a run container has no runs */
  NO_RUNS,
  /** runs are not in ascending order with gaps between them */
  RUNS_NOT_ASCENDING,
  /** a run extends beyond its container */
  RUN_TOO_LONG,
  /** the cardinality of a run container does not match its runs */
  RUNS_CARDINALITY,
  /** the arena's form is unknown */
  UNKNOWN_FORM,
  /** a tiny arena holds something that needs the full form */
  NOT_TINY,
  /** the bump mark lies outside the arena */
  BUMP_OUTSIDE,
  /** bytes are reserved although nothing is being built */
  HELD_BACK,
  /** a block lies outside the used part of the arena or is not aligned to 8 bytes */
  BLOCK_MISPLACED,
  /** the blocks in use and the free blocks do not add up to the used part of the arena */
  BYTES_UNACCOUNTED,
  /** a free list is broken */
  FREE_LISTS,
  /** the level of a node does not match its depth in the tree */
  NODE_LEVEL,
  /** a node is empty or overfull */
  NODE_COUNT,
  /** directory keys are not in ascending order */
  DIRECTORY_NOT_ASCENDING,
  /** the key of a slot is not the smallest key below it */
  SLOT_KEY,
  /** the cardinality of a slot is not the sum of those below it */
  SLOT_CARDINALITY,
  /** the cardinality in the header is not the sum over all containers */
  TOTAL_CARDINALITY,
  /** the number of entries in the header does not match the directory */
  TOTAL_ENTRIES,
  /**
   * a sparse bitset has another number of members, values or masks than it should,
   * or a value or a mask is 0
   */
  SPARSE_UNSOUND,
  /** the kind of a container does not suit its cardinality */
  WRONG_FORM,
  /** a container key is out of range */
  KEY_TOO_GREAT,
  /** it is 4 GiB or longer */
  TOO_LONG,
  /** it has 64-bit offsets, which R64.IMPORT takes */
  HAS_WIDE_OFFSETS,
  /** it is Base64 text of another text */
  BASE64,
  /** it looks like hexadecimal text: send the bytes themselves */
  HEXADECIMAL,
  /** it looks like what redis-cli shows in a terminal: write the reply to a file with --raw */
  QUOTED,
  /** it has trailing bytes, the last of which is a line feed, as redis-cli adds one */
  LINE_FEED,
  /** it looks like the reply of DUMP, which RESTORE takes */
  DUMPED,
  /** it looks like a serialized Java object: write the bitmap with its own method serialize() */
  JAVA_OBJECT,
  /** it is compressed with gzip */
  GZIP,
  /** it looks like a groupBitmap state of ClickHouse: cut off what is before the roaring bitmap */
  CLICK_HOUSE,
  /** it looks like a bitmap of Apache Doris or StarRocks, which has a form of its own */
  DORIS,
  /** it looks like CRoaring's frozen form: write it with roaring_bitmap_portable_serialize */
  FROZEN,
  /** a value is greater than a signed 64 bit integer */
  VALUE_TOO_GREAT,
  /** an id is out of range, or not greater than those before it */
  IDS_NOT_ASCENDING,
  /** a name does not have the form that it should have */
  NAME_UNSOUND,
  /** it has a name twice */
  NAME_TWICE,
  /** the places of names do not match the names */
  NAMES_MISPLACED,
  /** a table of names is not in order */
  TABLE_NOT_IN_ORDER,
  /** the tables of names do not have exactly the names that there are */
  TABLE_ENTRIES,
}
