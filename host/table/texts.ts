// The fields of INFO and the forms of STAT, which tools/generate-texts.ts writes as C.

/**
 * The sections of INFO, the fields of each, and the value of each field: an expression in C, in which the variables of inform() in
 * host/module.c may occur. A text begins with "text:".
 */
export const information: Record<string, Record<string, string>> = {
  bitmaps: {
    version: "text:MODULE_VERSION_TEXT",
    bitmaps: "now.bitmaps",
    arena_bytes: "now.bytes",
    r_keys: "families[R].keys",
    r_bytes: "families[R].bytes",
    r64_keys: "families[R64].keys",
    r64_bytes: "families[R64].bytes",
    ri_keys: "families[RI].keys",
    ri_bytes: "families[RI].bytes",
    rn_keys: "dictionaries.keys",
    rn_bytes: "dictionaries.bytes",
    payloads_refused: "now.refused",
    bitmaps_damaged: "now.damaged",
    bitmaps_defragmented: "moved_bitmaps()",
  },
  core: {
    cpu_level: "text:level",
    traps: "now.traps",
    questions_overdue: "now.overdue",
  },
  threads: {
    questions_running: "pool.running",
    questions_waiting: "pool.waiting",
    questions_done: "offloads.done",
    questions_kept: "offloads.stayed",
    questions_repeated: "offloads.repeated",
    questions_shared: "pool.shared",
    threads_helping: "pool.helping",
    longest_question_us: "offloads.longest",
    bitmaps_copied: "copies.bitmaps",
    bytes_copied: "copies.bytes",
    snapshot_bytes: "bitmap_bytes_only_retained()",
  },
};

/** STAT with JSON. */
const kind = { number_of_containers: "%s", container_cardinality: "%s", container_allocated_bytes: "%s" };
const json = {
  type: "%s", cardinality: "%s", number_of_containers: "%s", max_value: "%s", min_value: "%s",
  array_container: kind, bitset_container: kind, run_container: kind,
};

/** A line for each number. The C module has the same double spaces. */
const lines = [
  "type", "cardinality", "number of containers", "max value", "min value",
  "number of array containers", "\tarray container values", "\tarray container bytes",
  "bitset  containers", "\tbitset  container values", "\tbitset  container bytes",
  "run containers", "\trun container values", "\trun container bytes",
];

/**
 * The forms of STAT. Each %s stands for a word: type, cardinality, containers, maximum, minimum; then for arrays, bitsets and runs:
 * containers, members, bytes.
 */
export const statistics = { json: JSON.stringify(json), text: lines.map((line) => `${line}: %s\n`).join("") };

/** RI.STAT: type, cardinality, the least and greatest id and value; then of leaves of pairs and of slices: leaves, ids, bytes. */
const leaves = { number_of_leaves: "%s", ids: "%s", allocated_bytes: "%s" };
const integersJson = {
  type: "%s", cardinality: "%s", min_id: "%s", max_id: "%s", min_value: "%s", max_value: "%s", pairs: leaves, slices: leaves,
};
const integersLines = [
  "type", "cardinality", "min id", "max id", "min value", "max value", "leaves of pairs", "\tids", "\tbytes", "leaves of slices", "\tids", "\tbytes",
];
export const integersStatistics = { json: JSON.stringify(integersJson), text: integersLines.map((line) => `${line}: %s\n`).join("") };
