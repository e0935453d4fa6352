-- meter: stores a reading of the account's windows, drops what ended before it was written, and wakes the refused.
-- KEYS 1-6 the gate's.
-- ARGV[1] JSON { account, channel, windows = { id -> { used, resetsAt?, kind,
-- scope? } }, at, readAt, source, plan?, reached?, overage?, partial, ceiling }
--   at: when the vendor wrote it, in Redis' time. partial: windows not named keep their value and what settles in them.
--   reached { flag, resetsAt? }: the vendor says that the account is closed. overage: JSON, only for readers.
-- Reply: 1 taken, 0 ignored, because it is older than the last reading.
local a = cjson.decode(ARGV[1])
local windows = catch_up(a)
local known = tonumber(redis.call('HGET', G.meter, 'at') or '0')
-- A time in the future, from a clock that runs ahead, would shut out every other reading until that time comes.
local at = math.min(a.at, now)
if at < known then return 0 end

if not a.partial then windows = {} end
for id, w in pairs(a.windows) do windows[id] = w end
redis.call('HSET', G.meter, 'windows', cjson.encode(windows), 'at', at, 'readAt', a.readAt, 'source', a.source)
if a.plan then
  redis.call('HSET', G.meter, 'plan', a.plan)
elseif not a.partial then
  redis.call('HDEL', G.meter, 'plan')
end

-- These fields are as old as the percents beside them, so a reading without them removes the earlier ones.
for _, name in ipairs({ 'reached', 'overage' }) do
  if a[name] then
    redis.call('HSET', G.meter, name, cjson.encode(a[name]))
  elseif name == 'reached' or not a.partial then
    redis.call('HDEL', G.meter, name)
  end
end

-- Only readings written strictly after a run's end count: its own last one was sent before its last answer was billed.
local all = redis.call('HGETALL', G.res)
for i = 1, #all, 2 do
  local r = cjson.decode(all[i + 1])
  if not in_flight(r) and r.at < at then
    if a.partial then take_off(all[i], r, a.windows, windows) else drop(all[i], r) end
  end
end
wake(a.channel, a.account, true)
return 1
