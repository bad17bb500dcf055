-- List a node for another TTL, and delete entries that have expired.
-- Keys: the entries of the nodes, when they expire.  Values: node, entry, TTL in ms, channel.
local entries, ends = unpack(KEYS)
local node, entry, lifetime, channel = unpack(ARGV)
local now = milliseconds()
local over = redis.call('ZRANGEBYSCORE', ends, '-inf', now)
for _, each in ipairs(over) do
  redis.call('ZREM', ends, each)
  redis.call('HDEL', entries, each)
end
local before = redis.call('HGET', entries, node)
redis.call('HSET', entries, node, entry)
redis.call('ZADD', ends, now + lifetime, node)
if before ~= entry then
  redis.call('PUBLISH', channel, 'registry')
end
