-- The live term of a name.
-- Keys: the term, the domain.
-- Returns the holder, the token, the TTL in microseconds and the domain; nothing if there is none.
local held = redis.call('HMGET', KEYS[1], 'holder', 'token', 'ttl')
local domain = redis.call('GET', KEYS[2])
if not held[1] or not domain then
  return false
end
return { held[1], held[2], held[3], domain }
