// Scripts, which the server runs atomically: no client and no kill can interrupt them.

/** Removes the members that an earlier attempt had added from the bitmap KEYS[1]. Its TTL stays. */
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
 * MOVE deletes the source. COPY keeps the new members of the bitmap in `added` until the shard is known to be gone. Otherwise the next
 * attempt removes these members first, because some may have been cleared in the shard. Returns 0 if the source is gone, otherwise 1.
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

/** The shard is gone, so its members stay in the bitmap. KEYS: bitmap, added, lock; ARGV: family, lock's holder. */
export const KEEP_ADDED = `${BEGIN}
return redis.call('UNLINK', added)
`;

/** The shard was deleted before it was renamed, so its new members are removed. The same arguments. */
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
 * Returns 0 if the range has changed meanwhile, otherwise 1. The bits are added to an existing shard.
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
