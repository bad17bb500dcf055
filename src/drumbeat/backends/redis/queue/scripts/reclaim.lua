-- Deliver tickets again that were not acknowledged for long, forget receivers that are gone, and
-- remove streams that nobody uses.
-- Keys: the set of streams.  Values: group, ms without an acknowledgement, how many tickets, ms
-- after which a receiver without a sign of life is gone.  A key that is no stream is an error, after
-- all others.
local group, idle, left, gone = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local reclaimed, wrong = 0, nil
for _, key in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  local cursor = '0-0'
  repeat
    if left == 0 then
      break
    end
    local reply = redis.pcall('XAUTOCLAIM', key, group, 'reclaimer', idle, cursor,
      'COUNT', math.min(left, 100))
    if failed(reply) then
      if not string.find(reply.err, 'NOGROUP', 1, true) then -- else nobody has received from it yet
        wrong = about(key, reply)
      end
      break
    end
    cursor = reply[1]
    for _, entry in ipairs(reply[2]) do
      if entry and entry[2] then -- else it was trimmed
        deliver_again(key, group, entry[1], entry[2])
        reclaimed, left = reclaimed + 1, left - 1
      end
    end
  until cursor == '0-0'
  local receivers = redis.pcall('XINFO', 'CONSUMERS', key, group)
  if failed(receivers) then
    receivers = {}
  end
  local remaining = #receivers
  for _, each in ipairs(receivers) do
    local about_it = {}
    for i = 1, #each, 2 do
      about_it[each[i]] = each[i + 1]
    end
    if about_it['pending'] == 0 and about_it['idle'] > gone then
      redis.call('XGROUP', 'DELCONSUMER', key, group, about_it['name'])
      remaining = remaining - 1
    end
  end
  local length = redis.pcall('XLEN', key)
  if length == 0 and remaining == 0 then
    redis.call('DEL', key)
    redis.call('SREM', KEYS[1], key)
  end
end
return wrong or reclaimed
