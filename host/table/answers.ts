// What clients make of replies. A `?` says that there may be no answer: nil, or -1 where that stands for no offset. `Answers` in
// client/src/answers.ts reads each reply, and answerOf() in test/support/methods.ts says for tests what is answered.

/** What a method of the JavaScript client answers. */
interface Meaning {
  /** The name in the client's Answers, if it is not that of the table. */
  member?: string;
  /** The type in TypeScript. */
  type: string;
  /** Replaces the reply as the table describes it, where a client answers something else. */
  text?: string;
}

const known = {
  ok: { type: '"OK"' },
  "ok?": { type: '"OK" | null', text: "`OK`, or null if the key is missing." },
  bit: { type: "Bit" },
  bits: { type: "Bit[]" },
  boolean: { type: "boolean", text: "Whether it is so." },
  count: { type: "Count<M>" },
  counts: { type: "Count<M>[]" },
  "count?": { type: "Count<M> | null", text: "The number of members that were removed, or null if the key is missing." },
  "offset?": { type: "M | null", text: "The offset, or null if there is none." },
  offsets: { type: "M[]" },
  ranges: { type: "[first: M, last: M][]" },
  page: { type: "Page<M>", text: "The members, and the cursor for the next call, which is null at the end." },
  length: { type: "number" },
  "ratio?": { type: "number | null", text: "A number from 0 to 1, or null if both bitmaps are empty." },
  ratios: { type: "(number | null)[]", text: "A number from 0 to 1 for each, or null where there is none." },
  table: { type: "Count<M>[][]" },
  ranking: { type: "[key: Key, members: Count<M>][]", text: "The keys as they were given and how many members they share, the greatest first." },
  "ratio ranking": { member: "ratioRanking", type: "[key: Key, ratio: number][]", text: "The keys as they were given and their ratios, the greatest first." },
  fields: { type: "(bigint | null)[]" },
  text: { type: "string" },
  "text?": { type: "string | null", text: "Text, or null if the key is missing." },
  bytes: { type: "Uint8Array" },
  "bytes?": { type: "Uint8Array | null", text: "The bitmap's bytes, or null if the key is missing." },
  ids: { member: "offsets", type: "M[]", text: "The ids in this order." },
  value: { type: "M" },
  "value?": { type: "M | null", text: "The value, or null if the id has none." },
  values: { type: "(M | null)[]", text: "A value for each, or null where there is none." },
  entries: { type: "[id: M, value: M][]", text: "Pairs of an id and its value." },
  sum: { type: "Sum<M>", text: "The number of ids, and the exact sum of their values." },
  summary: { type: "Summary<M>", text: "`count`, `sum`, `min`, `max` and `mean`; null for the last three without ids." },
  histogram: { type: "[value: M, ids: Count<M>][]", text: "Pairs of a value and its number of ids." },
  "rank?": { type: "Count<M> | null", text: "The rank, or null if the id has no value." },
  "entry page": { member: "entryPage", type: "EntryPage<M>", text: "Pairs of an id and its value, and the cursor for the next call, which is null at the end." },
  "integer statistics?": { member: "integerStatisticsOrNull", type: "IntegerStatistics<M> | null", text: "The statistics, or null if the key is missing." },
  "ids?": { member: "values", type: "(M | null)[]", text: "An id for each, or null for a name that has none." },
  "names?": { member: "names", type: "(N | null)[]", text: "A name for each, or null for an id that has none." },
  "name page": { member: "namePage", type: "NamePage<N>", text: "Pairs of an id and its name, and the cursor for the next call, which is null at the end." },
  "found names": { member: "foundNames", type: "FoundNames<N>", text: "Names in ascending order of ids, and the id to go on from, which is null at the end." },
  "statistics?": { type: "Statistics<M> | null", text: "The statistics, or null if the key is missing." },
} satisfies Record<string, Meaning>;

export type Answer = keyof typeof known;
export const answers: Readonly<Record<Answer, Meaning>> = known;
