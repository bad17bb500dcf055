-- Whether a name is vacant.
-- Keys: the term, the number, the pause.
-- Returns the number of the vacancy; or nothing, and the milliseconds after which to look again.
local left = redis.call('PTTL', KEYS[1])
if left < 0 then
  left = redis.call('PTTL', KEYS[3])
end
if left >= 0 then
  return { false, left }
end
return { redis.call('GET', KEYS[2]) or '0', 0 }
