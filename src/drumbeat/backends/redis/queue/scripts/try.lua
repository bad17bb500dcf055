-- Try every command that the queue needs, so that a right that is missing shows at once.
-- Keys: a stream and a set for this trial alone, and the set of streams.
local key, set, streams = unpack(KEYS)
local kind = redis.call('TYPE', streams).ok
if kind ~= 'none' and kind ~= 'set' then
  return about(streams, {err = 'WRONGTYPE it holds a ' .. kind})
end
local commands = {
  {'XADD', key, 'MAXLEN', '~', 1, '*', 'job', '0'},
  {'XGROUP', 'CREATE', key, 'trial', '0', 'MKSTREAM'},
  {'XREADGROUP', 'GROUP', 'trial', 'trial', 'COUNT', 1, 'STREAMS', key, '>'},
  {'XPENDING', key, 'trial', '-', '+', 1, 'trial'},
  {'XAUTOCLAIM', key, 'trial', 'trial', 0, '0-0', 'COUNT', 1},
  {'XINFO', 'CONSUMERS', key, 'trial'},
  {'XRANGE', key, '-', '+'},
  {'XACK', key, 'trial', '0-1'},
  {'XDEL', key, '0-1'},
  {'XLEN', key},
  {'XGROUP', 'DELCONSUMER', key, 'trial', 'trial'},
  {'SADD', set, '1'},
  {'SMEMBERS', set},
  {'SREM', set, '1'},
  {'DEL', key},
}
for _, words in ipairs(commands) do
  local reply = redis.pcall(unpack(words))
  if failed(reply) then
    return redis.error_reply(reply.err .. ' (command ' .. words[1] .. ')')
  end
end
