-- What several scripts need.

-- The server's clock. It stands still while a script runs.
local function milliseconds()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- The next number: above every earlier one, and not below the clock. A server that lost its last
-- writes, or a replica that was promoted before it got them, then still does not repeat a number.
local function next_number(key, now)
  local last = tonumber(redis.call('GET', key) or 0)
  local number = string.format('%.0f', math.max(last + 1, now))
  redis.call('SET', key, number)
  return number
end

-- Whether the name is held by this very term.
local function holds(term, domain_key, holder, token, domain)
  local held = redis.call('HMGET', term, 'holder', 'token')
  return held[1] == holder and held[2] == token and redis.call('GET', domain_key) == domain
end
