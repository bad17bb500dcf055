-- End this term, and wake waiters.
-- Keys: the term, the domain.  Values: holder, token, domain, name, channel.
-- Returns 1, or 0 if the term was over.
if not holds(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]) then
  return 0
end
redis.call('DEL', KEYS[1])
redis.call('PUBLISH', ARGV[5], 'lease ' .. ARGV[4])
return 1
