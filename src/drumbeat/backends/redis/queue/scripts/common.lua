-- What several scripts need.

-- The error of a command, with the key that it was about.
local function about(key, reply)
  return redis.error_reply(reply.err .. ' (key ' .. key .. ')')
end

local function failed(reply)
  return type(reply) == 'table' and reply.err
end

-- The arguments from a position on: a number, and then as many ids. Also the position after them.
local function ids_at(position)
  local count = tonumber(ARGV[position])
  return {unpack(ARGV, position + 1, position + count)}, position + 1 + count
end

-- Take entries off the list of those that are delivered, and out of the stream.
local function remove(key, group, ids)
  redis.call('XACK', key, group, unpack(ids))
  redis.call('XDEL', key, unpack(ids))
end

-- Add an entry again at the end of its stream, for any receiver, and remove the old one.
local function deliver_again(key, group, id, fields)
  redis.call('XADD', key, '*', unpack(fields))
  remove(key, group, {id})
end
