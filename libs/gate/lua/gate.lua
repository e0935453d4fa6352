-- Included in front of every script that touches an account's gate.
--
-- KEYS[1..6] of such a script: meter, reservations, leases, sums, closed, flags.
-- Amounts are whole thousandths of a percentage point; times are milliseconds of Redis' own clock.
--
-- A reservation (hash `reservations`, id -> JSON):
--   { st, cost = { window -> thousandths }, lane, class, project, node, at?, canary? }
--   st: token      between fetch and bind; its lapse drops it (nothing was spent)
--       bound      an attempt runs; its lapse turns it into settling (something was spent)
--       settling   ended at `at`; its points stay until a reading written after `at`, or the window's reset
--       estimated  settling past its ceiling: still counts, shown apart
-- `sums` is a cache of them: inflight, lane:<lane>, w:<window>. recount.lua proves or mends it.
-- `closed`: { til, reason, event, n, canary = 1, holder } after a refusal; one canary goes first when `til` is past.

local function clock()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end
local now = clock()

local G = { meter = KEYS[1], res = KEYS[2], lease = KEYS[3], sum = KEYS[4], closed = KEYS[5], flags = KEYS[6] }

local function load(id)
  local raw = redis.call('HGET', G.res, id)
  if raw then return cjson.decode(raw) end
  return nil
end

local function save(id, r) redis.call('HSET', G.res, id, cjson.encode(r)) end

local function in_flight(r) return r.st == 'token' or r.st == 'bound' end

local function count(r, sign)
  redis.call('HINCRBY', G.sum, 'inflight', sign)
  redis.call('HINCRBY', G.sum, 'lane:' .. r.lane, sign)
end

local function charge(r, sign)
  for w, c in pairs(r.cost) do
    if c ~= 0 then redis.call('HINCRBY', G.sum, 'w:' .. w, sign * c) end
  end
end

-- Wakes the refused. Without `always` only when somebody was refused since the last wake: releases are frequent.
local function wake(channel, account, always)
  if always or redis.call('HGET', G.flags, 'refused') == '1' then
    redis.call('HSET', G.flags, 'refused', '0')
    redis.call('PUBLISH', channel, account)
  end
end

-- Whoever removes or ends a reservation gives the canary's place back, else the account stays shut behind a ghost.
local function leave_canary(id)
  if redis.call('HGET', G.closed, 'holder') == id then redis.call('HDEL', G.closed, 'holder') end
end

local function drop(id, r)
  if in_flight(r) then count(r, -1) end
  charge(r, -1)
  redis.call('HDEL', G.res, id)
  redis.call('ZREM', G.lease, id)
  leave_canary(id)
end

local function settle(id, r, ceiling)
  if in_flight(r) then count(r, -1) end
  r.st = 'settling'
  r.at = now
  save(id, r)
  redis.call('ZADD', G.lease, now + ceiling, id)
  leave_canary(id)
end

-- Lapsed leases, at most 200 a call. Returns how many changed anything.
local function sweep(ceiling)
  local lapsed = redis.call('ZRANGEBYSCORE', G.lease, '-inf', now, 'LIMIT', 0, 200)
  for _, id in ipairs(lapsed) do
    local r = load(id)
    if not r then
      redis.call('ZREM', G.lease, id)
    elseif r.st == 'token' then
      drop(id, r)
    elseif r.st == 'bound' then
      settle(id, r, ceiling)
    else
      r.st = 'estimated'
      save(id, r)
      redis.call('ZREM', G.lease, id)
    end
  end
  return #lapsed
end

-- A window whose reset has passed counts as unused, and what settled in it belongs to the old one.
-- Runs still in flight keep their points: the new window will be charged for them.
local function roll()
  local rolled = nil
  local windows = {}
  local raw = redis.call('HGET', G.meter, 'windows')
  if raw then windows = cjson.decode(raw) end
  for id, w in pairs(windows) do
    if w.resetsAt and w.resetsAt <= now then
      w.used = 0
      w.resetsAt = nil
      w.rolled = true
      rolled = rolled or {}
      rolled[id] = true
    end
  end
  if rolled then
    redis.call('HSET', G.meter, 'windows', cjson.encode(windows))
    local all = redis.call('HGETALL', G.res)
    for i = 1, #all, 2 do
      local r = cjson.decode(all[i + 1])
      if not in_flight(r) then
        local changed, left = false, false
        for w, c in pairs(r.cost) do
          if rolled[w] and c ~= 0 then
            redis.call('HINCRBY', G.sum, 'w:' .. w, -c)
            r.cost[w] = 0
            changed = true
          elseif c ~= 0 then
            left = true
          end
        end
        if changed and left then save(all[i], r) end
        if changed and not left then
          redis.call('HDEL', G.res, all[i])
          redis.call('ZREM', G.lease, all[i])
        end
      end
    end
  end
  return windows
end

local function sum(field) return tonumber(redis.call('HGET', G.sum, field) or '0') end
