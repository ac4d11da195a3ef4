// What the server does in one step, so that no client and no kill comes in between.

/** After it, the members that an earlier attempt had added are gone again from the bitmap that KEYS[1] names. Its TTL stays. */
const UNDO = `
local function undo()
  if redis.call('EXISTS', added) == 0 then return end
  local left = redis.call('PTTL', dest)
  roar('QUERYSTORE', dest, '#1 - #2', 2, dest, added)
  if left > 0 then redis.call('PEXPIRE', dest, left) end
  redis.call('UNLINK', added)
end
`;

const BEGIN = `
local dest, added, lock = KEYS[1], KEYS[2], KEYS[3]
local function roar(command, ...) return redis.call(ARGV[1] .. '.' .. command, ...) end
if lock and redis.call('GET', lock) ~= ARGV[2] then return redis.error_reply('LOCKED another join has begun') end
`;

/**
 * Adds a shard to the bitmap, and makes sure that it has exactly its old members and those of the shard there.
 *
 *   KEYS  bitmap, added, lock or source again, source: the shard or a copy of it, piece: the shard's members, verified, before: temporary
 *   ARGV  family, lock's holder, MOVE or COPY, offset of bit 0, last offset, when the shard expires in ms or -1, or KEEP
 *
 * MOVE deletes the source. COPY keeps in `added` what the bitmap has got by it, until it is known that the shard is gone: if it is not,
 * the next attempt takes these members away first, since some may have been cleared in the shard. Returns 0 if the source is gone, else 1.
 */
export const JOIN = `
local copies = ARGV[3] == 'COPY'
local dest, added, source, piece, before = KEYS[1], KEYS[2], KEYS[4], KEYS[5], KEYS[6]
local lock = copies and KEYS[3]
local function roar(command, ...) return redis.call(ARGV[1] .. '.' .. command, ...) end
if lock and redis.call('GET', lock) ~= ARGV[2] then return redis.error_reply('LOCKED another join has begun') end
${UNDO}
if redis.call('TYPE', source).ok ~= 'string' then return 0 end
local range, isNew = '(#1 & [' .. ARGV[4] .. '..' .. ARGV[5] .. '])', redis.call('EXISTS', dest) == 0
if copies then undo() end
roar('QUERYSTORE', before, range, 1, dest)
redis.call('PEXPIRE', before, 60000)
if copies then roar('QUERYSTORE', added, '#2 - #1', 2, before, piece) end
roar('FROMBITMAP', dest, source, 'OFFSET', ARGV[4], 'MERGE')
if tonumber(roar('QUERY', range .. ' ^ (#2 | #3)', 3, dest, before, piece)) ~= 0 then
  return redis.error_reply('DIFFERENT the bitmap does not have the members that it should have; the shard stays')
end
if ARGV[6] ~= 'KEEP' then
  local expires, left, time = tonumber(ARGV[6]), redis.call('PTTL', dest), redis.call('TIME')
  local now = time[1] * 1000 + time[2] / 1000
  if expires >= 0 and (isNew or (left >= 0 and expires > now + left)) then redis.call('PEXPIREAT', dest, ARGV[6]) end
  if expires < 0 then redis.call('PERSIST', dest) end
end
redis.call('UNLINK', source, piece, before)
return 1
`;

/** The shard is gone, so what it added stays. KEYS: bitmap, added, lock; ARGV: family, lock's holder. */
export const KEEP_ADDED = `${BEGIN}
return redis.call('UNLINK', added)
`;

/** The shard was deleted before it was taken, so what it added goes. The same arguments. */
export const UNDO_ADDED = `${BEGIN}${UNDO}
undo()
return 1
`;

/**
 * Moves a range of a bitmap to a shard.
 *
 *   KEYS  bitmap, shard, made: the shard's value, piece: the members of the range when it was made, check: temporary
 *   ARGV  family, offset of bit 0, last offset, and one more than that
 *
 * Returns 0 if the range has changed meanwhile, else 1. A shard that is there gets the bits in addition.
 */
export const SPLIT = `
local bitmap, shard, made, piece, check = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local function roar(command, ...) return redis.call(ARGV[1] .. '.' .. command, ...) end
if tonumber(roar('QUERY', '(#1 & [' .. ARGV[2] .. '..' .. ARGV[3] .. ']) ^ #2', 2, bitmap, piece)) ~= 0 then return 0 end
roar('FROMBITMAP', check, made, 'OFFSET', ARGV[2])
redis.call('PEXPIRE', check, 60000)
if tonumber(roar('QUERY', '#1 ^ #2', 2, check, piece)) ~= 0 then return redis.error_reply('DIFFERENT the shard would have other members') end
local left, source = redis.call('PTTL', bitmap), bitmap
if redis.call('EXISTS', shard) == 1 then
  source, left = shard, redis.call('PTTL', shard)
  redis.call('BITOP', 'OR', made, shard, made)
end
redis.call('RENAME', made, shard)
if left >= 0 then redis.call('PEXPIRE', shard, left) else redis.call('PERSIST', shard) end
roar('CLEARRANGE', bitmap, ARGV[2], ARGV[4])
redis.call('UNLINK', piece, check)
return 1
`;
