-- deliver: step 3 of a delivery. It moves the record from (running, attempt n, this node) to the next state, settles
-- the reservation, closes the account on a refusal, and adds the receipt to the live stream.
-- KEYS 1-6 the gate's (of the attempt's account), 7 the record.
-- ARGV[1] JSON { k, id, attempt, node, account, ceiling, lookIn, receipt,
--   next = { state, event, fields, leaves? }, cancelled = { fields }, close? = { til?, reason, bounds }, success?,
--   drift? = { lane, most, bounds } (cmo understood nothing of what the CLI wrote) }
-- Reply JSON { answer = 'delivered', state } | { answer = 'fenced', state }.
-- The gate's part happens once: it needs the reservation in flight or the compare-and-set. A run whose lease lapsed
-- (the box slept) has still spent or was still refused, so the compare-and-set is enough; a repeated delivery finds
-- neither.
local a = cjson.decode(ARGV[1])
--@include gate
--@include close
--@include record
local rid = a.id .. '.' .. a.attempt

-- One unreadable run may be that run's own fault. Several in a row on a lane mean that its CLI is a new version, and
-- every further run would be wasted. Returns whether this closed the account.
local function drift_streak(id, drift, answered)
  if answered then redis.call('HDEL', G.flags, 'drift:' .. answered) end
  if not drift or redis.call('HINCRBY', G.flags, 'drift:' .. drift.lane, 1) < drift.most then return false end
  close_account(id, { reason = 'unknown-format', bounds = drift.bounds })
  return true
end

local rec = redis.call('HMGET', KEYS[7], 'state', 'attempt', 'node', 'cancelAsked', 'cost', 'lane', 'class', 'project')
local fits = rec[1] == 'running' and rec[2] == tostring(a.attempt) and rec[3] == a.node
local r = load(rid)
if fits or (r and in_flight(r)) then
  local opened = false
  if a.close then close_account(rid, a.close) end
  if a.success then opened = open_account(rid) end
  local drifted = drift_streak(rid, a.drift, a.success and rec[6])
  if not r then
    -- Its reservation lapsed, settled and was dropped by a reading older than its end: its last points are in none yet.
    r = { st = 'settling', cost = whole(cjson.decode(rec[5])), lane = rec[6], node = a.node, class = rec[7], project = rec[8] }
    charge(r, 1)
  end
  settle(rid, r, a.ceiling)
  redis.call('HSET', G.flags, 'ended', now)
  wake(a.k.wake, a.account, a.close ~= nil or opened or drifted)
end

if not fits then return cjson.encode({ answer = 'fenced', state = rec[1] or 'gone' }) end

local to, event, fields = a.next.state, a.next.event, a.next.fields
-- Without this, a cancel during a re-route, a retry or an interruption would be lost.
if LIVE[to] and rec[4] == '1' then
  to, event, fields = 'cancelled', 'cancelled', a.cancelled.fields
end
leave_state(a.id, 'running')
set_fields(a.id, fields)
local left_for = LIVE[to] and a.next.leaves and closing_event(a.account)
if left_for then
  local left = cjson.decode(redis.call('HGET', KEYS[7], 'left') or '[]')
  left_for.lane = a.next.leaves
  left[#left + 1] = left_for
  redis.call('HSET', KEYS[7], 'left', cjson.encode(left))
end
redis.call('HSET', KEYS[7], 'nonce', '')
enter_state(a.id, to, a.lookIn)
fair_reset_if_idle()
redis.call('XADD', a.k.receipts, 'MAXLEN', '~', 10000, '*', 'receipt', a.receipt)
tell(a.id, event, a.attempt, to)
return cjson.encode({ answer = 'delivered', state = to })
