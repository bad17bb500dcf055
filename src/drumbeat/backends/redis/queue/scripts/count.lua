-- How many tickets there are.  Keys: the set of streams.
local count = 0
for _, key in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  local length = redis.pcall('XLEN', key)
  count = count + (tonumber(length) or 0)
end
return count
