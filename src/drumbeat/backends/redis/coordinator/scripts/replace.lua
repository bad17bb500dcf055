-- Write a value over the one that was read.
-- Keys: the entry, the number.  Values: value, key, channel, the revision that was read.
-- Answers the number of the write; nothing if the entry is at another revision.
if (redis.call('HGET', KEYS[1], 'revision') or '0') ~= ARGV[4] then
  return false
end
local revision = next_number(KEYS[2], milliseconds())
redis.call('HSET', KEYS[1], 'value', ARGV[1], 'revision', revision)
redis.call('PUBLISH', ARGV[3], 'configuration ' .. ARGV[2])
return revision
