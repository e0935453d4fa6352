-- change: moves a waiting dispatch to another lane, or ends it (cancelled, deferred, expired).
-- KEYS 1 the record. ARGV[1] JSON { k, id, attempt, lookIn, next = { state, event, fields } }
-- Reply: 1 changed, 0 the dispatch no longer waits as that attempt.
local a = cjson.decode(ARGV[1])
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
--@include record
local rec = redis.call('HMGET', KEYS[1], 'state', 'attempt')
if not (rec[1] and WAITING[rec[1]] and rec[2] == tostring(a.attempt)) then return 0 end
leave_state(a.id, rec[1])
set_fields(a.id, a.next.fields)
enter_state(a.id, a.next.state, a.lookIn)
fair_reset_if_idle()
tell(a.id, a.next.event, a.attempt, a.next.state)
return 1
