-- renew: the heartbeat of a running attempt. It makes a missing reservation again, without admission, but only while
-- the record says that this attempt runs here: a renewal that arrives after the delivery must not revive a settled one.
-- KEYS 1-6 the gate's, 7 the record.
-- ARGV[1] JSON { id (attempt), attempt, node, lane, class, project, cost, ttl, ceiling }
-- Reply: 'renewed' | 'made' | 'not-running'.
local a = cjson.decode(ARGV[1])
local rec = redis.call('HMGET', KEYS[7], 'state', 'attempt', 'node')
if rec[1] ~= 'running' or rec[2] ~= tostring(a.attempt) or rec[3] ~= a.node then return 'not-running' end
local r = load(a.id)
if r and in_flight(r) then
  redis.call('ZADD', G.lease, now + a.ttl, a.id)
  return 'renewed'
end
if r then drop(a.id, r) end
r = { st = 'bound', cost = whole(a.cost), lane = a.lane, node = a.node, class = a.class, project = a.project }
save(a.id, r)
redis.call('ZADD', G.lease, now + a.ttl, a.id)
count(r, 1)
charge(r, 1)
return 'made'
