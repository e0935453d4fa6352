-- recount: checks the sums against the raw reservations, corrects them, and replies by how much they were off.
-- KEYS 1-6 the gate's. ARGV[1] JSON { account, channel, ceiling }.
-- Reply JSON { field -> difference }, empty if they were right.
local a = cjson.decode(ARGV[1])
catch_up(a)
local right = {}
local function plus(field, by) right[field] = (right[field] or 0) + by end
local all = redis.call('HGETALL', G.res)
for i = 1, #all, 2 do
  local r = cjson.decode(all[i + 1])
  if in_flight(r) and not r.lent then
    plus('inflight', 1)
    plus('lane:' .. r.lane, 1)
  end
  for w, c in pairs(r.cost) do plus('w:' .. w, c) end
  -- Without a lease a reservation would never end, so it gets the ceiling.
  if r.st ~= 'estimated' and not redis.call('ZSCORE', G.lease, all[i]) then redis.call('ZADD', G.lease, now + a.ceiling, all[i]) end
end
local off = {}
local had = redis.call('HGETALL', G.sum)
for i = 1, #had, 2 do
  local diff = tonumber(had[i + 1]) - (right[had[i]] or 0)
  if diff ~= 0 then off[had[i]] = diff end
  if not right[had[i]] then redis.call('HDEL', G.sum, had[i]) end
end
for field, value in pairs(right) do
  if redis.call('HGET', G.sum, field) ~= tostring(value) then
    off[field] = off[field] or -value
    redis.call('HSET', G.sum, field, value)
  end
end
return cjson.encode(off)
