-- Prepended to every script that changes a record. Needs `a.k` (key names, libs/store/keys.ts) and `now`.
--
-- queued ──start──▶ running ──deliver──▶ an end | queued (attempt+1) | retrying (attempt+1, not before t)
--   │  ▲               │
--   │  └──unstart──────┘   (nothing was started: same attempt)
--   └──change──▶ an end (cancelled, deferred, expired) | queued on another lane (attempt+1)
-- Only these scripts change `state`, each by compare-and-set on (state, attempt).
local WAITING = { queued = true, retrying = true }
local LIVE = { queued = true, retrying = true, running = true }

local function field(id, name) return redis.call('HGET', a.k.record .. id, name) end

-- How long a `--once` key stays valid after its dispatch has ended, ms.
local ONCE_KEPT = 7 * 24 * 3600 * 1000

local function set(value) return value and value ~= '' end

-- Counts a waiting record in its queue, by tier and class. A tier counts even before it is due, because binding never
-- raises a cost. A class counts only work that could start now: work that is not due must not open the held-back slot.
-- Returns how many of that tier wait now.
local function count_waiting(state, queue, tier, class, notBefore, sign)
  if not set(queue) then return 0 end
  if state == 'queued' and not set(notBefore) then redis.call('HINCRBY', a.k.waiting .. queue, 'class:' .. class, sign) end
  return redis.call('HINCRBY', a.k.waiting .. queue, 'tier:' .. tier, sign)
end

-- A batch's states always add up to its total, because only the two functions below change a member's state.
local function count_member(batch, state, sign)
  if set(batch) then redis.call('HINCRBY', a.k.census .. batch, 'n:' .. state, sign) end
end

-- The earliest time at which a record may have to stop waiting; nil: there is no bound.
local function ends_at(startBy, endBy, waitUntil, startedAt)
  local first = nil
  local function bound(at) if set(at) and (not first or tonumber(at) < first) then first = tonumber(at) end end
  if not set(startedAt) then bound(startBy) end
  bound(endBy)
  bound(waitUntil)
  return first
end

-- Update the indexes when a record leaves or enters a state; queue and tier are read from the record.
local function leave_state(id, state)
  redis.call('ZREM', a.k.state .. state, id)
  local r = redis.call('HMGET', a.k.record .. id, 'queue', 'tier', 'class', 'node', 'notBefore', 'batch', 'account')
  count_member(r[6], state, -1)
  if WAITING[state] then
    redis.call('ZREM', a.k.due, id)
    redis.call('ZREM', a.k.ends, id)
    -- A fetch reserves for the dearest waiting tier; now that this tier is gone, there may be room for the others.
    if count_waiting(state, r[1], r[2], r[3], r[5], -1) == 0 then redis.call('PUBLISH', a.k.wake, r[7]) end
    redis.call('ZREM', a.k.line .. r[1], id)
  elseif state == 'running' then
    redis.call('SREM', a.k.running .. r[4], id)
  end
end

local function enter_state(id, state, lookIn)
  local r = redis.call('HMGET', a.k.record .. id, 'queue', 'tier', 'class', 'node', 'submittedAt', 'notBefore', 'account', 'batch', 'once', 'startBy', 'endBy', 'waitUntil', 'startedAt')
  redis.call('HSET', a.k.record .. id, 'state', state)
  redis.call('ZADD', a.k.state .. state, r[5], id)
  count_member(r[8], state, 1)
  if WAITING[state] then
    local from = set(r[6]) and math.max(now, tonumber(r[6])) or now
    redis.call('ZADD', a.k.due, from + lookIn, id)
    local ends = ends_at(r[10], r[11], r[12], r[13])
    if ends then redis.call('ZADD', a.k.ends, ends, id) end
    count_waiting(state, r[1], r[2], r[3], r[6], 1)
    redis.call('ZADD', a.k.line .. r[1], r[5], id)
    -- It may use the held-back slot, so a worker that was refused because of the hold-back has to ask again.
    if state == 'queued' and r[3] == 'interactive' and not set(r[6]) then redis.call('PUBLISH', a.k.wake, r[7]) end
  elseif state == 'running' then
    redis.call('SADD', a.k.running .. r[4], id)
  else
    redis.call('HSET', a.k.record .. id, 'endedAt', now)
    redis.call('ZADD', a.k.owed, now, id)
    if set(r[9]) then redis.call('PEXPIRE', a.k.once .. r[9], ONCE_KEPT) end
  end
end

local function set_fields(id, fields)
  local flat = {}
  for name, value in pairs(fields) do
    flat[#flat + 1] = name
    flat[#flat + 1] = value
  end
  if #flat > 0 then redis.call('HSET', a.k.record .. id, unpack(flat)) end
end

-- The event feeds live views. The message wakes every process that waits for this dispatch.
local function tell(id, event, attempt, state)
  redis.call('XADD', a.k.events, 'MAXLEN', '~', 10000, '*', 'id', id, 'event', event, 'attempt', attempt, 'state', state, 'at', now)
  redis.call('PUBLISH', a.k.changed, id)
end

-- Start-time fair queueing: a tag per flow (batch or project) and one virtual time per band, so that 250 jobs of one
-- flow don't go ahead of the next flow's first. Interactive work has the band in front. A band has room for half a
-- million starts of one flow (interactive) or more than a million (other); later ones queue at its end as they come.
local BAND = { interactive = { v = 'v:i', base = 1, top = 500000 }, other = { v = 'v:o', base = 500001, top = 2097151 } }

local function fair_tag(class, flow)
  local band = class == 'interactive' and BAND.interactive or BAND.other
  local key = 'f:' .. band.v .. ':' .. flow
  local clocks = redis.call('HMGET', a.k.fair, band.v, key)
  local tag = math.max(tonumber(clocks[1] or band.base), tonumber(clocks[2] or band.base) + 1)
  if tag > band.top then tag = band.top end
  redis.call('HSET', a.k.fair, key, tag)
  return tag
end

-- Moves virtual time to the tag of the dispatch that starts.
local function fair_started(class, tag)
  local band = class == 'interactive' and BAND.interactive or BAND.other
  local v = tonumber(redis.call('HGET', a.k.fair, band.v) or band.base)
  if tag > v then redis.call('HSET', a.k.fair, band.v, tag) end
end

-- Restarts all tags when nothing waits or runs. Not while something runs: a re-route keeps its tag, and a tag of the
-- old count would then go behind everything new.
local function fair_reset_if_idle()
  for state in pairs(LIVE) do
    if redis.call('ZCARD', a.k.state .. state) > 0 then return end
  end
  redis.call('DEL', a.k.fair)
end
