-- Add tickets to streams, and note the streams.
-- Keys: the set of streams, then streams.  Values: the length at which a stream loses its oldest
-- tickets; for each stream the number of tickets, then job and priority of each.
local most, position = ARGV[1], 2
for i = 2, #KEYS do
  redis.call('SADD', KEYS[1], KEYS[i])
  local count = tonumber(ARGV[position])
  position = position + 1
  for _ = 1, count do
    local reply = redis.pcall('XADD', KEYS[i], 'MAXLEN', '~', most, '*',
      'job', ARGV[position], 'priority', ARGV[position + 1])
    if failed(reply) then
      return about(KEYS[i], reply)
    end
    position = position + 2
  end
end
