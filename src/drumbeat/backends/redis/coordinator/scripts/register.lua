-- List a node for another TTL, and forget those whose time ran out.
-- Keys: what the nodes say, when they run out.  Values: node, what it says, TTL in ms, channel.
local said, ends = unpack(KEYS)
local node, words, lifetime, channel = unpack(ARGV)
local now = milliseconds()
local over = redis.call('ZRANGEBYSCORE', ends, '-inf', now)
for _, each in ipairs(over) do
  redis.call('ZREM', ends, each)
  redis.call('HDEL', said, each)
end
local before = redis.call('HGET', said, node)
redis.call('HSET', said, node, words)
redis.call('ZADD', ends, now + lifetime, node)
if before ~= words then
  redis.call('PUBLISH', channel, 'registry')
end
