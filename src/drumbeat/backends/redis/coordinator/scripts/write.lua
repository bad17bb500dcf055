-- Write a value, or delete it.
-- Keys: the entry, the number.  Values: key, channel, expected revision, value.
-- An empty revision expects nothing, 0 expects no entry. Without a value the entry is deleted.
-- Returns the number of the write; nothing if the entry is at another revision.
local expected, value = ARGV[3], ARGV[4]
if expected ~= '' and (redis.call('HGET', KEYS[1], 'revision') or '0') ~= expected then
  return false
end
local revision = next_number(KEYS[2], milliseconds())
if value then
  redis.call('HSET', KEYS[1], 'value', value, 'revision', revision)
else
  redis.call('DEL', KEYS[1])
end
redis.call('PUBLISH', ARGV[2], 'configuration ' .. ARGV[1])
return revision
