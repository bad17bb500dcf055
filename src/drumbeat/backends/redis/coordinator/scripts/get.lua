-- A value and the number of its last write; nothing if there is none.
-- Keys: the entry.
local entry = redis.call('HMGET', KEYS[1], 'value', 'revision')
if not entry[2] then
  return false
end
return entry
