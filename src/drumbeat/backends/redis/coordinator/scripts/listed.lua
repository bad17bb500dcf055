-- The nodes whose time has not run out.
-- Keys: what the nodes say, when they run out.
-- Answers the milliseconds until the first of them runs out, then each node and what it says.
local now = milliseconds()
local live = redis.call('ZRANGEBYSCORE', KEYS[2], '(' .. string.format('%.0f', now), '+inf', 'WITHSCORES')
local answer = { 0 }
for index = 1, #live, 2 do
  answer[#answer + 1] = live[index]
  answer[#answer + 1] = redis.call('HGET', KEYS[1], live[index])
end
if live[2] then -- they come in the order in which they run out
  answer[1] = live[2] - now
end
return answer
