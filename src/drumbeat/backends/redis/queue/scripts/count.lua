-- How many tickets there are, or the error of a key that is no stream.  Keys: the set of streams.
local count = 0
for _, key in ipairs(redis.call('SMEMBERS', KEYS[1])) do
  local length = redis.pcall('XLEN', key)
  if failed(length) then
    return about(key, length)
  end
  count = count + length
end
return count
