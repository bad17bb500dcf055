-- Delete the value that was read.
-- Keys: the entry, the number.  Values: key, channel, the revision that was read.
-- Answers the number of the write; nothing if the entry is at another revision.
if (redis.call('HGET', KEYS[1], 'revision') or '0') ~= ARGV[3] then
  return false
end
local revision = next_number(KEYS[2], milliseconds())
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[2], 'configuration ' .. ARGV[1])
return revision
