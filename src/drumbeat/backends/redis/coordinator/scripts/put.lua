-- Write a value, whatever was there.
-- Keys: the entry, the number.  Values: value, key, channel.
-- Answers the number of the write.
local revision = next_number(KEYS[2], milliseconds())
redis.call('HSET', KEYS[1], 'value', ARGV[1], 'revision', revision)
redis.call('PUBLISH', ARGV[3], 'configuration ' .. ARGV[2])
return revision
