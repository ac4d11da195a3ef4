// Limits of a container and sizes of its payload. A container covers 65,536 consecutive offsets.
// Its payload is one of
//
//   array    u16 members, strictly ascending
//   bitset   8192 bytes; member v is bit v & 7 of byte v >> 3
//   sparse   the bytes of a bitset that are not 0, and where they are, see sparse.ts
//   short    the words of a bitset from the first to the last one that has members, see short.ts
//   runs     u16 run count, then for each run u16 start, u16 length - 1; ascending, with at least one value
//            between two runs that is in neither

/** Sizes that all containers share. */
export abstract class Container {
  /** Size of a container's universe: values are 0 .. UNIVERSE - 1. */
  @inline static readonly UNIVERSE: u32 = 65536;
  /** The greatest value that a container can hold. */
  @inline static readonly LOW_MAX: u32 = Container.UNIVERSE - 1;
  /** Most members of an array. */
  @inline static readonly ARRAY_MAX: u32 = 4096;
  @inline static readonly MEMBER_BYTES: usize = 2;
  /** Bytes of runs before the first run. */
  @inline static readonly RUNS_HEADER_BYTES: usize = 2;
  @inline static readonly RUN_BYTES: usize = 4;
  /** Bytes of a bitset. */
  @inline static readonly BYTES: u32 = Container.UNIVERSE / 8;
  /** Words of a bitset. */
  @inline static readonly WORDS: u32 = Container.UNIVERSE / 64;
  /** Bytes of a short bitset before its words. */
  @inline static readonly SHORT_HEADER_BYTES: usize = 4;
  /** Bytes of a sparse bitset before its values. */
  @inline static readonly SPARSE_HEADER_BYTES: usize = 4;
  /** Bytes of a sparse bitset besides its values and masks. */
  @inline static readonly SPARSE_LEAST_BYTES: usize = 132;
  /** Most bytes of a sparse bitset. A bitset is quicker, and takes little more. */
  @inline static readonly SPARSE_MAX: usize = 6656;
  /** Most bytes that members are made a sparse bitset for: it has room to grow. */
  @inline static readonly SPARSE_MADE_MAX: usize = 6144;
  /** Most values of a sparse bitset: there is a mask for each eight of them, or more. */
  @inline static readonly SPARSE_VALUES_MAX: usize =
    (Container.SPARSE_MAX - Container.SPARSE_LEAST_BYTES) * 8 / 9;

  /** Most words of a short bitset: with more, it would need a block as large as that of a whole bitset. */
  @inline static readonly SHORT_MAX: u32 = 959;

  /**
   * Whether a container of that cardinality, if not runs, is an array in the portable format.
   * Only this function decides that. kind.ts decides which kind it has in memory.
   */
  @inline static isArraySized(cardinality: u32): bool { return cardinality <= Container.ARRAY_MAX; }
  @inline static arrayBytes(count: u32): usize { return <usize>count << 1; }

  @inline static runsBytes(runCount: u32): usize {
    return Container.RUNS_HEADER_BYTES + ((<usize>runCount) << 2);
  }

  @inline static shortBytes(words: u32): usize { return Container.SHORT_HEADER_BYTES + (<usize>words << 3); }
  /** Members of an array that begins at `start` and ends before `end`. */
  @inline static memberCount(start: usize, end: usize): u32 { return <u32>(end - start) >> 1; }
}
// @ts-ignore: decorator
@inline export const BITSET_BYTES: usize = 8192;
