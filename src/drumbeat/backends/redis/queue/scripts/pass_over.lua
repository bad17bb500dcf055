-- Leave entries that are no tickets in their streams, and do not deliver them again.
-- Keys: streams.  Values: group; for each stream the number of ids, then the ids.
local ids, position = nil, 2
for _, key in ipairs(KEYS) do
  ids, position = ids_at(position)
  redis.call('XACK', key, ARGV[1], unpack(ids))
end
