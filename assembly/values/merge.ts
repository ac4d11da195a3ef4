// One key of values from several, window by window. The operands wait in a heap in scratch room, each with the
// window of its next id: the first one has the least window, and among those with the same the least number.

import { right, work } from "../env/memory";
import { Right } from "../env/view";
import { Fault } from "../env/fault";
import { Arena } from "../arena/layout/header";
import { Build } from "./build";
import { Aggregate, Column } from "./column";
import { Values } from "./layout";
import { Slices } from "./slices";
import { Spot } from "./spot";

/** An operand in the heap. */
@final @unmanaged
class Waiting {
  @inline private static readonly OPERAND: u32 = 8;
  @inline static readonly BYTES: usize = 16;

  @inline static at(index: u32): Waiting {
    return changetype<Waiting>(Build.end() + <usize>index * Waiting.BYTES);
  }

  @inline window(): u64 { return load<u64>(changetype<usize>(this)); }
  @inline operand(): u32 { return load<u32>(changetype<usize>(this), Waiting.OPERAND); }
  @inline set(window: u64, operand: u32): void {
    store<u64>(changetype<usize>(this), window);
    store<u32>(changetype<usize>(this), operand, Waiting.OPERAND);
  }

  @inline isBefore(other: Waiting): bool {
    return this.window() < other.window()
      || (this.window() == other.window() && this.operand() < other.operand());
  }

  /** Moves element 0 of a heap of `count` down to where it belongs. */
  static sink(count: u32): void {
    const window = Waiting.at(0).window(), operand = Waiting.at(0).operand();
    let index: u32 = 0;
    // The element to move is written at the end of the heap, where the others are compared with it.
    const moving = Waiting.at(count);
    moving.set(window, operand);
    for (let child: u32 = 1; child < count; child = 2 * index + 1) {
      if (child + 1 < count && Waiting.at(child + 1).isBefore(Waiting.at(child))) child++;
      if (!Waiting.at(child).isBefore(moving)) break;
      Waiting.at(index).set(Waiting.at(child).window(), Waiting.at(child).operand());
      index = child;
    }
    Waiting.at(index).set(window, operand);
  }
}

// @ts-ignore: decorator
@inline function windowOf(spot: u64): u64 { return Spot.id<Right>(spot) & ~(<u64>Slices.IDS - 1); }

/** Makes the heap of the operands that have ids from `from` on. Returns how many they are. */
function gather(keys: u32, from: u64): u32 {
  Arena.reserve(Build.end() + (<usize>keys + 1) * Waiting.BYTES);
  let count: u32 = 0;
  for (let k: u32 = 0; k < keys; k++) {
    right.select(k);
    const spot = Spot.from<Right>(from);
    if (spot == Spot.NONE) continue;
    let index = count++;
    const added = Waiting.at(count);
    added.set(windowOf(spot), k);
    for (; index && added.isBefore(Waiting.at((index - 1) >> 1)); index = (index - 1) >> 1) {
      const above = Waiting.at((index - 1) >> 1);
      Waiting.at(index).set(above.window(), above.operand());
    }
    Waiting.at(index).set(added.window(), k);
  }
  return count;
}

/** Taking a window of a key takes about as long as so many units of other work. */
// @ts-ignore: decorator
@inline const WINDOW_WORK: u32 = 16;

/** Makes memory 0, which is fresh, the values of operands 0 .. keys - 1. */
export function mergeValues(keys: u32, how: Aggregate): Fault {
  let closed = false;
  Build.begin();
  for (let waiting = gather(keys, 0); waiting;) {
    const window = Waiting.at(0).window();
    if (Build.isFull()) {
      Build.close();
      closed = true;
      waiting = gather(keys, window);
    }
    const column = Build.column();
    column.clear();
    while (waiting && Waiting.at(0).window() == window) {
      const operand = Waiting.at(0).operand();
      work.spend(WINDOW_WORK);
      right.select(operand);
      const spot = column.take<Right>(Spot.from<Right>(window), window, how);
      if (spot == Column.OVERFLOW) { Values.reset(); return Fault.VALUE_TOO_GREAT; }
      if (spot != Spot.NONE) Waiting.at(0).set(windowOf(spot), operand);
      else {
        waiting--;
        Waiting.at(0).set(Waiting.at(waiting).window(), Waiting.at(waiting).operand());
      }
      Waiting.sink(waiting);
    }
    Build.append(window);
  }
  Build.finish(closed);
  return Fault.NONE;
}
