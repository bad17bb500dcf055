-- Give the tickets that a receiver has not acknowledged to others, and forget the receiver.
-- Keys: streams.  Values: group, receiver.
local group, receiver = ARGV[1], ARGV[2]
for _, key in ipairs(KEYS) do
  local pending = redis.pcall('XPENDING', key, group, '-', '+', 1000, receiver)
  if not failed(pending) then
    for _, each in ipairs(pending) do
      local entry = redis.call('XRANGE', key, each[1], each[1])[1]
      if entry then
        deliver_again(key, group, entry[1], entry[2])
      else -- it was trimmed
        redis.call('XACK', key, group, each[1])
      end
    end
    redis.call('XGROUP', 'DELCONSUMER', key, group, receiver)
  end
end
