-- Extend this term. A key that has expired is not created again.
-- Keys: the term, the domain.  Values: holder, token, domain, TTL in milliseconds.
-- Returns 1, or 0 if the term is over.
if not holds(KEYS[1], KEYS[2], ARGV[1], ARGV[2], ARGV[3]) then
  return 0
end
return redis.call('PEXPIRE', KEYS[1], ARGV[4])
