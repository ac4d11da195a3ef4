// One key of values from several.

import { right } from "../env/memory";
import { Right } from "../env/view";
import { Fault } from "../env/fault";
import { Values } from "./layout";
import { Done, Only, addToValue, setValue } from "./point";
import { Spot } from "./spot";

/** What becomes of the values that several keys have for an id. */
export const enum Aggregate { SUM, MIN, MAX }

/** Makes memory 0, which is fresh, the values of operands 0 .. keys - 1. */
export function mergeValues(keys: u32, how: u32): Fault {
  Values.reset();
  const rules: u32 = how == Aggregate.MIN ? Only.LESS : Only.GREATER;
  for (let k: u32 = 0; k < keys; k++) {
    right.select(k);
    for (let spot = Spot.from<Right>(0); spot != Spot.NONE; spot = Spot.next<Right>(spot)) {
      const id = Spot.id<Right>(spot), value = Spot.value<Right>(spot);
      if (how != Aggregate.SUM) setValue(id, value, rules);
      else if (addToValue(id, value) == Done.NOTHING) return Fault.VALUE_TOO_GREAT;
    }
  }
  return Fault.NONE;
}
