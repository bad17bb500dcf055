-- Remove a node from the list.
-- Keys: the entries of the nodes, when they expire.  Values: node, channel.
redis.call('ZREM', KEYS[2], ARGV[1])
if redis.call('HDEL', KEYS[1], ARGV[1]) == 1 then
  redis.call('PUBLISH', ARGV[2], 'registry')
end
