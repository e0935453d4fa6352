-- Included in front of every script that changes a record. Wants `a.k` (names, libs/store/keys.ts) and `now`.
--
-- queued ──start──▶ running ──deliver──▶ an end | queued (attempt+1) | retrying (attempt+1, not before t)
--   │  ▲               │
--   │  └──unstart──────┘   (nothing was started: same attempt)
--   └──change──▶ an end (cancelled, deferred, expired) | queued on another lane (attempt+1)
-- Only these scripts change `state`, each by compare-and-set on (state, attempt).
local WAITING = { queued = true, retrying = true }
local LIVE = { queued = true, retrying = true, running = true }

local function field(id, name) return redis.call('HGET', a.k.record .. id, name) end

-- How long a `--once` key is known after its dispatch has ended, ms.
local ONCE_KEPT = 7 * 24 * 3600 * 1000

local function set(value) return value and value ~= '' end

-- Of a waiting record in its queue. Tiers are counted while anything waits there, also what is not due yet: a bind
-- never raises a cost. The class counts only what could start now: what is not due must not open the held-back place.
-- Returns how many of that tier wait now.
local function count_waiting(state, queue, tier, class, notBefore, sign)
  if not set(queue) then return 0 end
  if state == 'queued' and not set(notBefore) then redis.call('HINCRBY', a.k.waiting .. queue, 'class:' .. class, sign) end
  return redis.call('HINCRBY', a.k.waiting .. queue, 'tier:' .. tier, sign)
end

-- A batch's states always add up to its total: no member changes its state but by the two functions below.
local function count_member(batch, state, sign)
  if set(batch) then redis.call('HINCRBY', a.k.census .. batch, 'n:' .. state, sign) end
end

-- When the waiting of a record may have to end; nil: it has no bound.
local function ends_at(startBy, endBy, waitUntil, startedAt)
  local first = nil
  local function bound(at) if set(at) and (not first or tonumber(at) < first) then first = tonumber(at) end end
  if not set(startedAt) then bound(startBy) end
  bound(endBy)
  bound(waitUntil)
  return first
end

-- Index changes that go with leaving or entering a state; the queue and tier are read from the record.
local function leave_state(id, state)
  redis.call('ZREM', a.k.state .. state, id)
  local r = redis.call('HMGET', a.k.record .. id, 'queue', 'tier', 'class', 'node', 'notBefore', 'batch', 'account')
  count_member(r[6], state, -1)
  if WAITING[state] then
    redis.call('ZREM', a.k.due, id)
    redis.call('ZREM', a.k.ends, id)
    -- A fetch reserves for the dearest tier that waits; without this one there may be room for the others.
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
    -- It may take the held-back place, so a worker that was refused for that place has to ask again.
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

-- The event feeds live views; the message wakes whoever waits for this dispatch, in any process.
local function tell(id, event, attempt, state)
  redis.call('XADD', a.k.events, 'MAXLEN', '~', 10000, '*', 'id', id, 'event', event, 'attempt', attempt, 'state', state, 'at', now)
  redis.call('PUBLISH', a.k.changed, id)
end

-- Start-time fair queueing: a tag per flow (batch or project), one virtual time per band, so that 250 jobs of one
-- flow don't stand in front of the next flow's first. Interactive work has the band below all other. A band has room
-- for more than a million starts of one flow; whatever comes after stands at its end, in the order in which it came.
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

-- Virtual time moves to the tag of what starts.
local function fair_started(class, tag)
  local band = class == 'interactive' and BAND.interactive or BAND.other
  local v = tonumber(redis.call('HGET', a.k.fair, band.v) or band.base)
  if tag > v then redis.call('HSET', a.k.fair, band.v, tag) end
end

-- When nothing lives any more all tags begin again. Not while something runs: a re-route keeps its tag, and one of the
-- old count would then stand behind everything new.
local function fair_reset_if_idle()
  for state in pairs(LIVE) do
    if redis.call('ZCARD', a.k.state .. state) > 0 then return end
  end
  redis.call('DEL', a.k.fair)
end
