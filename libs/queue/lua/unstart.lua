-- unstart: the record says that the attempt runs here, but nothing was started (no folder, or a voided claim). It goes
-- back to queued with the same attempt. No receipt line is owed, whatever the access.
-- KEYS 1-6 the gate's, 7 the record.
-- ARGV[1] JSON { k, id, attempt, node, account, lookIn, cancelled = { name -> string } }
-- Reply 1 done, 0 the record has changed since.
local a = cjson.decode(ARGV[1])
--@include gate
--@include record
local rec = redis.call('HMGET', KEYS[7], 'state', 'attempt', 'node', 'cancelAsked', 'startedAt', 'attemptStartedAt')
if not (rec[1] == 'running' and rec[2] == tostring(a.attempt) and rec[3] == a.node) then return 0 end
local rid = a.id .. '.' .. a.attempt
local r = load(rid)
if r then
  drop(rid, r)
  wake(a.k.wake, a.account, false)
end
leave_state(a.id, 'running')
redis.call('HSET', KEYS[7], 'nonce', '', 'node', '')
if rec[5] == rec[6] then redis.call('HSET', KEYS[7], 'startedAt', '') end
local to, event = 'queued', 'unstarted'
if rec[4] == '1' then
  to, event = 'cancelled', 'cancelled'
  set_fields(a.id, a.cancelled)
end
enter_state(a.id, to, a.lookIn)
fair_reset_if_idle()
tell(a.id, event, a.attempt, to)
return 1
