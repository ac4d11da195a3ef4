#!lua name=reader_ids

-- KEYS: integers by id, the last integer. ARGV: ids. Replies the integer of each id, and gives new ids the next ones.
local function ids_of(keys, args)
  local ids = {}
  for i, name in ipairs(args) do
    local id = redis.call('HGET', keys[1], name)
    if not id then
      id = redis.call('INCR', keys[2])
      redis.call('HSET', keys[1], name, id)
    end
    ids[i] = tonumber(id)
  end
  return ids
end

redis.register_function('ids_of', ids_of)
