-- reserve: the only script that admits. In one atomic step it sweeps, then answers yes, or no with the reason.
-- KEYS 1-6 the gate's, 7 the queue's waiting counts, 8 the manual controls (libs/gate/control.ts).
-- ARGV[1] JSON { id, lane, node, project, class?, costs = { tier -> vector }, cost? (a vector: a known ticket),
--   limit, slots, laneSlots?, darkSlots, darkAfter, holdSlots, holdPoints, ttl, ceiling, grace, account, channel, dry? }
-- Reply JSON: { ok = true, cost, canary }
--   or { ok = false, reason, window?, til?, bare, event? = { event, until? | closing? } }.
--   window: the window without room; for `closed`, `paused` and `drained` the stated reason.
--   til: when asking again can help.
--   bare: nothing of this account is reserved or settling (estimated points aside), so only the reset can help.
local a = cjson.decode(ARGV[1])

local function refuse(reason, til, window, bare, event)
  if not a.dry then redis.call('HSET', G.flags, 'refused', '1') end
  return cjson.encode({ ok = false, reason = reason, til = til, window = window, bare = bare or false, event = event })
end

local windows = catch_up(a)

local held = load(a.id)
if held and in_flight(held) and not a.dry then
  redis.call('ZADD', G.lease, now + a.ttl, a.id)
  return cjson.encode({ ok = true, cost = held.cost, canary = held.canary or false })
end

-- A restarted Redis, or a replica that took over, may know less than was acknowledged. Nothing is admitted during the
-- grace, so that live nodes can assert their runs first. A node that has this Redis to itself ends the grace at once by
-- setting `asserted`. LASTSAVE costs nothing and is the time of the server's start until something is saved; only if it
-- is recent does the script ask for the uptime.
if a.grace > 0 then
  local saved = redis.call('LASTSAVE')
  local flags = redis.call('HMGET', G.flags, 'asserted', 'history', 'historyAt')
  local asserted = tonumber(flags[1] or '0') >= saved * 1000
  local is = history()
  local at = tonumber(flags[3] or '0')
  if is and is ~= flags[2] then
    if flags[2] then at = now end
    if not a.dry then redis.call('HSET', G.flags, 'history', is, 'historyAt', at) end
  end
  if not asserted then
    if now - at < a.grace then return refuse('restart', now + 500) end
    if math.floor(now / 1000) - saved <= math.ceil(a.grace / 1000) then
      local up = tonumber(string.match(redis.call('INFO', 'server'), 'uptime_in_seconds:(%d+)'))
      if up and up * 1000 < a.grace then return refuse('restart', now + 500) end
    end
  end
end

local said = redis.call('HMGET', KEYS[8], 'pause:*', 'pause:' .. a.lane, 'drain:' .. (a.node or ''), 'slots:account:' .. a.account, 'slots:lane:' .. a.lane, 'slots:dark:')
-- Of two pauses the one that ends later binds; a pause without an end is later than any other.
local pause = nil
for i = 1, 2 do
  local p = said[i] and cjson.decode(said[i])
  if p and (not p['until'] or p['until'] > now) and (not pause or (pause['until'] and (not p['until'] or p['until'] > pause['until']))) then pause = p end
end
if pause then return refuse('paused', pause['until'], pause.reason) end
if said[3] then return refuse('drained', nil, cjson.decode(said[3]).reason) end
a.slots = tonumber(said[4]) or a.slots
a.laneSlots = tonumber(said[5]) or a.laneSlots
a.darkSlots = tonumber(said[6]) or a.darkSlots

-- Reserve the dearest cost among the tiers that wait in this queue. Binding may lower it, never raise it.
local cost = a.cost
local interactive = a.class == 'interactive'
if not cost then
  local waiting, any = {}, false
  local counts = redis.call('HGETALL', KEYS[7])
  for i = 1, #counts, 2 do
    if tonumber(counts[i + 1]) > 0 then
      if counts[i] == 'class:interactive' then interactive = true end
      local tier = string.match(counts[i], '^tier:(.+)$')
      if tier and a.costs[tier] then
        waiting[tier] = true
        any = true
      end
    end
  end
  cost = {}
  for tier, vector in pairs(a.costs) do
    if waiting[tier] or not any then
      for w, c in pairs(vector) do cost[w] = math.max(cost[w] or 0, c) end
    end
  end
end

cost = whole(cost)

local closed = redis.call('HMGET', G.closed, 'til', 'canary', 'holder', 'reason')
local canary = false
if closed[1] then
  local til = tonumber(closed[1])
  if til > now then return refuse('closed', til, closed[4], true, closing_event(a.account)) end
  if closed[2] == '1' then
    if closed[3] then return refuse('canary') end
    canary = true
  end
end

-- The vendor itself says that the account is closed, whatever the percents say.
local reached = redis.call('HGET', G.meter, 'reached')
if reached then
  local r = cjson.decode(reached)
  if r.resetsAt and r.resetsAt > now then
    return refuse('closed', r.resetsAt, r.flag, true, { event = a.account .. '/' .. r.flag .. '/' .. r.resetsAt, ['until'] = r.resetsAt })
  end
end

-- The hold-back never takes the last slot: a batch must move even on an account of one slot.
local hold = interactive and 0 or math.min(a.holdSlots, math.max(a.slots - 1, 0))
local flying = sum('inflight')
if flying >= a.slots - hold then
  local reason = 'slots'
  if flying < a.slots then reason = 'hold-back' end
  return refuse(reason)
end
if a.laneSlots and sum('lane:' .. a.lane) >= a.laneSlots then return refuse('lane-slots') end

-- Dark: there is no reading, or an old one although runs of ours have ended since.
local at = tonumber(redis.call('HGET', G.meter, 'at') or '0')
local ended = tonumber(redis.call('HGET', G.flags, 'ended') or '0')
local dark = at == 0 or next(windows) == nil or (now - at > a.darkAfter and ended > at)
if dark and flying >= a.darkSlots then return refuse('dark') end

-- Reservations in flight or settling have a lease; estimated ones have none.
local bare = redis.call('ZCARD', G.lease) == 0
local points = interactive and 0 or a.holdPoints
-- Of several windows without room the one that opens last binds; an unknown reset (nil) is later than any time.
local short = nil
for id, w in pairs(windows) do
  local c = cost[id] or 0
  -- A window scoped to some models applies only to a cost that names it.
  if c > 0 or not w.scope then
    local total = w.used + sum('w:' .. id) + c
    local reason = nil
    if total > a.limit then reason = 'limit' elseif total > a.limit - points then reason = 'hold-back' end
    local worse = reason and (not short or (reason == 'limit' and short.reason ~= 'limit'))
    local later = reason and short and reason == short.reason and short.til and (not w.resetsAt or w.resetsAt > short.til)
    if worse or later then short = { reason = reason, til = w.resetsAt, window = id } end
  end
end
if short then
  local event = nil
  if short.til then event = { event = a.account .. '/' .. short.window .. '/' .. short.til, ['until'] = short.til } end
  return refuse(short.reason, short.til, short.window, bare, event)
end

if a.dry then return cjson.encode({ ok = true, cost = cost, canary = canary }) end

local r = { st = 'token', cost = cost, lane = a.lane, node = a.node, class = a.class, project = a.project, canary = canary or nil }
save(a.id, r)
redis.call('ZADD', G.lease, now + a.ttl, a.id)
count(r, 1)
charge(r, 1)
if canary then redis.call('HSET', G.closed, 'holder', a.id) end
return cjson.encode({ ok = true, cost = cost, canary = canary })
