import { succeeds } from "./world";

function trap(): void { unreachable(); }
function pass(): void {}

describe("a call that may trap", () => {
  it("leaves the references of its caller where the garbage collector looks for them", () => {
    const top = __stack_pointer;
    expect(succeeds(trap)).toBe(false, "a call that traps");
    expect(__stack_pointer).toBe(top, "stack after a trap");
    expect(succeeds(pass)).toBe(true, "a call that does not trap");
    expect(__stack_pointer).toBe(top, "stack after a call");
  });
});
