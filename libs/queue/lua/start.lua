-- start: in one step, binds the token's reservation to the attempt and sets the record to running. It is one script
-- because ioredis re-sends a command whose answer was lost; the nonce shows that the second one is a repeat.
-- KEYS 1-6 the gate's, 7 the record.
-- ARGV[1] JSON { k, id, attempt, lane, node, nonce, token, cost, ttl, account, early, fields }
--   fields: what the confirmation at the start has changed (decision, tier, cost)
-- Reply JSON { answer = 'yes', cancelAsked } | { answer = 'stale', state } | { answer = 'lapsed' }.
local a = cjson.decode(ARGV[1])
--@include gate
--@include record
local rid = a.id .. '.' .. a.attempt
local rec = redis.call('HMGET', KEYS[7], 'state', 'attempt', 'lane', 'node', 'nonce', 'notBefore', 'cancelAsked', 'tag', 'class', 'project', 'startedAt', 'startBy', 'endBy')
local state = rec[1]
if state == 'running' and rec[2] == tostring(a.attempt) and rec[5] == a.nonce then
  return cjson.encode({ answer = 'yes', cancelAsked = rec[7] == '1' })
end

local token = load(a.token)
local due = WAITING[state] and (tonumber(rec[6] or '0') or 0) <= now + a.early
-- After its --ttl or --deadline a dispatch no longer starts; the sweeper ends it.
local late = (not set(rec[11]) and set(rec[12]) and tonumber(rec[12]) < now) or (set(rec[13]) and tonumber(rec[13]) < now)
if not (due and not late and rec[2] == tostring(a.attempt) and rec[3] == a.lane) then
  if token then
    drop(a.token, token)
    wake(a.k.wake, a.account, false)
  end
  return cjson.encode({ answer = 'stale', state = state or 'gone' })
end

local wanted = whole(a.cost)
local held = load(rid)
if not token and not (held and in_flight(held)) then return cjson.encode({ answer = 'lapsed' }) end
-- The server that admitted it was restarted or replaced; this one may not know yet that another node runs it.
local admitted = redis.call('HGET', G.flags, 'history')
if not (held and in_flight(held)) and admitted and admitted ~= history() then return cjson.encode({ answer = 'lapsed' }) end
local lowered = false
if held and in_flight(held) then
  if token then
    drop(a.token, token)
    lowered = true
  end
else
  if held then drop(rid, held) end
  local cost = {}
  for w, c in pairs(token.cost) do
    cost[w] = math.min(c, wanted[w] or c)
    if cost[w] < c then lowered = true end
  end
  -- The token is no longer the canary if a refusal came in between.
  local canary = is_canary(a.token) or nil
  charge(token, -1)
  redis.call('HDEL', G.res, a.token)
  redis.call('ZREM', G.lease, a.token)
  held = { st = 'bound', cost = cost, lane = a.lane, node = a.node, class = rec[9], project = rec[10], canary = canary }
  charge(held, 1)
  if canary then redis.call('HSET', G.closed, 'holder', rid) end
end
held.st = 'bound'
save(rid, held)
redis.call('ZADD', G.lease, now + a.ttl, rid)
-- The fetch reserved for the dearest tier; the points given back here may let another worker start.
if lowered then wake(a.k.wake, a.account, false) end

leave_state(a.id, state)
set_fields(a.id, a.fields)
redis.call('HSET', KEYS[7], 'node', a.node, 'nonce', a.nonce, 'account', a.account, 'attemptStartedAt', now)
if not rec[11] or rec[11] == '' then redis.call('HSET', KEYS[7], 'startedAt', now) end
enter_state(a.id, 'running')
fair_started(rec[9], tonumber(rec[8] or '0'))
tell(a.id, 'started', a.attempt, 'running')
return cjson.encode({ answer = 'yes', cancelAsked = rec[7] == '1' })
