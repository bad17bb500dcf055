-- Add tickets to streams, and note the streams.
-- Keys: the set of streams, then streams, of which one may come several times.  Values: the length
-- at which a stream loses its oldest tickets; for each stream a priority, the number of tickets with
-- it, and their jobs.
local most, position = ARGV[1], 2
for i = 2, #KEYS do
  redis.call('SADD', KEYS[1], KEYS[i])
  local priority, count = ARGV[position], tonumber(ARGV[position + 1])
  position = position + 2
  for _ = 1, count do
    local reply = redis.pcall('XADD', KEYS[i], 'MAXLEN', '~', most, '*',
      'job', ARGV[position], 'priority', priority)
    if failed(reply) then
      return about(KEYS[i], reply)
    end
    position = position + 1
  end
end
