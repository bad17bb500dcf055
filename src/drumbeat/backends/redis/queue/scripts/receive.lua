-- Acknowledge tickets and deliver the next, from the first streams first, without waiting.
-- Keys: streams to read, then streams with tickets to acknowledge.  Values: group, receiver, how
-- many tickets, how many streams to read; for each of the other streams the number of ids, then ids.
local group, receiver, left, streams = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local ids, position = nil, 5
for i = streams + 1, #KEYS do
  ids, position = ids_at(position)
  remove(KEYS[i], group, ids)
end
local found = {}
for i = 1, streams do
  local key = KEYS[i]
  local words = {'XREADGROUP', 'GROUP', group, receiver, 'COUNT', math.max(left, 1),
    'STREAMS', key, '>'}
  if left > 0 then
    local reply = redis.pcall(unpack(words))
    if failed(reply) and string.find(reply.err, 'NOGROUP', 1, true) then
      -- Nobody has received from it yet, or the server was emptied: all its tickets are new.
      redis.call('XGROUP', 'CREATE', key, group, '0', 'MKSTREAM')
      reply = redis.pcall(unpack(words))
    end
    if failed(reply) then
      return about(key, reply)
    end
    if reply then
      found[#found + 1] = reply[1]
      left = left - #reply[1][2]
    end
  end
end
return found
