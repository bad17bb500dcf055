-- A new term, if the name is vacant.
-- Keys: the term, the domain, the number, the server's history, the pause.
-- Values: name, holder, TTL in microseconds, TTL in milliseconds, channel.
-- Returns the domain and the token; nothing if the name is held or the server pauses.
local term, domain_key, number, history, pause = unpack(KEYS)
local name, holder, ttl, lifetime, channel = unpack(ARGV)

-- The identity of the server's history, which is new after each start and each promotion, and since
-- when it has had it. Nothing if the user may not read it.
local function present_history(now)
  local replication = redis.pcall('INFO', 'replication')
  local server = redis.pcall('INFO', 'server')
  if type(replication) ~= 'string' or type(server) ~= 'string' then
    return nil
  end
  local identity = replication:match('master_replid:(%x+)')
  local uptime = server:match('uptime_in_seconds:(%d+)')
  if not identity or not uptime then
    return nil
  end
  local earlier = replication:match('master_replid2:(%x+)')
  local promoted = earlier and earlier:find('[^0]')
  -- It counts seconds that have begun: a server that started at the end of a second has 1 at once.
  local whole_seconds = math.max(uptime - 1, 0)
  return identity, promoted and now or now - whole_seconds * 1000
end

-- Milliseconds for which nothing may be granted. A server that was just started or promoted may
-- have lost terms that their holders still trust; after one TTL no holder does.
local function pause_left(now, identity, since)
  if not identity then
    return 0
  end
  local known = redis.call('HMGET', history, 'identity', 'since')
  if known[1] == identity then
    since = tonumber(known[2])
  else
    redis.call('HSET', history, 'identity', identity, 'since', string.format('%.0f', since))
  end
  return since + lifetime - now
end

if redis.call('EXISTS', term) == 1 then
  return false
end
local now = milliseconds()
local identity, since = present_history(now)
local left = pause_left(now, identity, since)
if left > 0 then
  if redis.call('PTTL', pause) < 0 then
    redis.call('SET', pause, '1', 'PX', string.format('%.0f', left))
    next_number(number, now) -- the vacancy after the pause is another than the one before
    redis.call('PUBLISH', channel, 'lease ' .. name)
  end
  return false
end
local time = redis.call('TIME')
local new = redis.sha1hex(table.concat({ identity or '', time[1], time[2], holder }, ':'))
redis.call('SET', domain_key, new, 'NX')
local token = next_number(number, now)
redis.call('HSET', term, 'holder', holder, 'token', token, 'ttl', ttl)
redis.call('PEXPIRE', term, lifetime)
redis.call('PUBLISH', channel, 'lease ' .. name) -- waiters set their alarm by the new term
return { redis.call('GET', domain_key), token }
