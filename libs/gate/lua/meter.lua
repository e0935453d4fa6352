-- meter: a reading of the account's windows. Ends what settled before it was written, and wakes.
-- KEYS 1-6 the gate's.
-- ARGV[1] JSON { account, channel, windows = { id -> { used, resetsAt?, kind, scope? } }, at, readAt, source, plan?, partial, ceiling }
--   at: when the vendor wrote it, in Redis' time. partial: windows not named keep their last value.
-- Reply: 1 taken, 0 older than what is known (it changes nothing).
local a = cjson.decode(ARGV[1])
sweep(a.ceiling)
local windows = roll()
local known = tonumber(redis.call('HGET', G.meter, 'at') or '0')
if a.at < known then return 0 end

if not a.partial then windows = {} end
for id, w in pairs(a.windows) do windows[id] = w end
redis.call('HSET', G.meter, 'windows', cjson.encode(windows), 'at', a.at, 'readAt', a.readAt, 'source', a.source)
if a.plan then redis.call('HSET', G.meter, 'plan', a.plan) else redis.call('HDEL', G.meter, 'plan') end

-- Strictly after its end: a run's own last reading was sent before its last answer was billed.
local all = redis.call('HGETALL', G.res)
for i = 1, #all, 2 do
  local r = cjson.decode(all[i + 1])
  if not in_flight(r) and r.at < a.at then drop(all[i], r) end
end
wake(a.channel, a.account, true)
return 1
