-- assert-run: about processes the files are right. If Redis fell back and forgot a run whose folder shows that its CLI
-- started, this sets the record to running (this attempt, on this node) and reserves its points without admission.
-- KEYS 1-6 the gate's, 7 the record. ARGV[1] JSON { k, id, attempt, node, lane, account, queue, tier, cost, ttl }
-- Reply: 'asserted' | 'fits' (nothing to do) | 'later' (the record is past this attempt, or ended) | 'gone'.
local a = cjson.decode(ARGV[1])
--@include gate
--@include record
local rec = redis.call('HMGET', KEYS[7], 'state', 'attempt', 'node', 'class', 'project', 'startedAt')
if not rec[1] then return 'gone' end
local at = tonumber(rec[2])
if rec[1] == 'running' and at == a.attempt and rec[3] == a.node then return 'fits' end
local behind = (WAITING[rec[1]] and at <= a.attempt) or (rec[1] == 'running' and at < a.attempt)
if not behind then return 'later' end
leave_state(a.id, rec[1])
redis.call('HSET', KEYS[7], 'attempt', a.attempt, 'node', a.node, 'lane', a.lane, 'account', a.account, 'queue', a.queue, 'tier', a.tier, 'nonce', 'asserted')
if not rec[6] or rec[6] == '' then redis.call('HSET', KEYS[7], 'startedAt', now) end
enter_state(a.id, 'running')
local rid = a.id .. '.' .. a.attempt
local r = load(rid)
if not (r and in_flight(r)) then
  if r then drop(rid, r) end
  r = { st = 'bound', cost = whole(a.cost), lane = a.lane, node = a.node, class = rec[4], project = rec[5] }
  save(rid, r)
  count(r, 1)
  charge(r, 1)
end
redis.call('ZADD', G.lease, now + a.ttl, rid)
tell(a.id, 'asserted', a.attempt, 'running')
return 'asserted'
