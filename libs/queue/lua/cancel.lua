-- cancel: ends a waiting dispatch at once; for a running one, records the request and notifies its node.
-- KEYS 1 the record. ARGV[1] JSON { k, id, lookIn, fields }
-- Reply JSON { how = 'cancelled' | 'asked' | 'already-ended' | 'unknown', state }.
local a = cjson.decode(ARGV[1])
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
--@include record
local rec = redis.call('HMGET', KEYS[1], 'state', 'attempt')
local state = rec[1]
if not state then return cjson.encode({ how = 'unknown' }) end
if WAITING[state] then
  leave_state(a.id, state)
  set_fields(a.id, a.fields)
  redis.call('HSET', KEYS[1], 'cancelAsked', '1')
  enter_state(a.id, 'cancelled', a.lookIn)
  fair_reset_if_idle()
  tell(a.id, 'cancelled', rec[2], 'cancelled')
  return cjson.encode({ how = 'cancelled', state = 'cancelled' })
end
if state == 'running' then
  redis.call('HSET', KEYS[1], 'cancelAsked', '1')
  redis.call('PUBLISH', a.k.cancel, a.id)
  tell(a.id, 'cancel-asked', rec[2], state)
  return cjson.encode({ how = 'asked', state = state })
end
return cjson.encode({ how = 'already-ended', state = state })
