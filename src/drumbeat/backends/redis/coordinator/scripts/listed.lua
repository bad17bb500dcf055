-- The nodes that have not expired.
-- Keys: the entries of the nodes, when they expire.
-- Returns the milliseconds until the first of them expires, then each node and its entry.
local now = milliseconds()
local live = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. string.format('%.0f', now), '+inf', 'WITHSCORES')
local answer = { 0 }
for index = 1, #live, 2 do
  answer[#answer + 1] = live[index]
  answer[#answer + 1] = redis.call('HGET', KEYS[1], live[index])
end
if live[2] then -- sorted by the time at which they expire
  answer[1] = live[2] - now
end
return answer
