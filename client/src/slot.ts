// Slots of a cluster: CRC16 (XMODEM) of the key or of its hash tag, modulo 16384.

const SLOTS = 16_384, OPEN = 0x7b, CLOSE = 0x7d;

const TABLE = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8;
  for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
  return crc;
});

/**
 * The slot of a key, 0 to 16383. O(length of the key).
 */
export function slotOf(key: string | Uint8Array): number {
  const bytes = Buffer.from(key), open = bytes.indexOf(OPEN), close = open < 0 ? -1 : bytes.indexOf(CLOSE, open + 1);
  let crc = 0;
  for (const byte of close > open + 1 ? bytes.subarray(open + 1, close) : bytes) crc = ((crc << 8) & 0xffff) ^ TABLE[(crc >> 8) ^ byte]!;
  return crc % SLOTS;
}
