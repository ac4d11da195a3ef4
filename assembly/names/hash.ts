// SipHash-1-3, keyed: without the key, which never leaves the server's process, nobody can choose names whose
// hashes collide. AssemblyScript has no arrays without a heap, so the four words of the state are variables.

import { Memory, view16, view32, view64, view8 } from "../env/view";

/** The last bytes of the input (0 to 7) at `at`. */
function rest<M extends Memory>(at: usize, bytes: usize): u64 {
  let word: u64 = 0, shift: u64 = 0;
  if (bytes & 4) { word = view32<M>(at, 0); at += 4; shift = 32; }
  if (bytes & 2) { word |= <u64>view16<M>(at, 0) << shift; at += 2; shift += 16; }
  return bytes & 1 ? word | (<u64>view8<M>(at, 0) << shift) : word;
}

/** The upper 32 bits of the hash of `bytes` bytes at `at`, with the key (k0, k1). */
export function hashRecord<M extends Memory>(at: usize, bytes: usize, k0: u64, k1: u64): u32 {
  let a = k0 ^ 0x736f6d6570736575, b = k1 ^ 0x646f72616e646f6d;
  let c = k0 ^ 0x6c7967656e657261, d = k1 ^ 0x7465646279746573;
  const whole = bytes & ~7;
  for (let i: usize = 0; i <= whole + 24; i += 8) {
    // The words of the input, the rest of it with its length, and three rounds without input.
    let word: u64 = 0;
    if (i < whole) word = view64<M>(at + i, 0);
    else if (i == whole) word = rest<M>(at + i, bytes & 7) | (<u64>bytes << 56);
    else if (i == whole + 8) c ^= 0xff;
    d ^= word;
    a += b; b = rotl<u64>(b, 13) ^ a; a = rotl<u64>(a, 32);
    c += d; d = rotl<u64>(d, 16) ^ c;
    a += d; d = rotl<u64>(d, 21) ^ a;
    c += b; b = rotl<u64>(b, 17) ^ c; c = rotl<u64>(c, 32);
    a ^= word;
  }
  return <u32>((a ^ b ^ c ^ d) >> 32);
}
