// Bytes as client libraries take them. Declarations of the package do not mention Buffers, so that programs need no types of Node.js.

/** A Buffer of the same memory. Client libraries take no other bytes. O(1). */
export const inBuffer = (bytes: Uint8Array): Buffer =>
  (Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
