-- Acknowledge tickets.
-- Keys: streams.  Values: group; for each stream the number of ids, then the ids.
local ids, position = nil, 2
for _, key in ipairs(KEYS) do
  ids, position = ids_at(position)
  remove(key, ARGV[1], ids)
end
