-- Prepended to every script that touches an account's gate.
--
-- KEYS[1..6] of such a script: meter, reservations, leases, sums, closed, flags.
-- Amounts are whole thousandths of a percentage point; times are milliseconds of Redis' own clock.
--
-- A reservation (hash `reservations`, id -> JSON):
--   { st, cost = { window -> thousandths }, lane, class, project, node, at?, canary?, lent? (its slot is another's: lend.lua) }
--   st: token      between fetch and bind; its lapse drops it (nothing was spent)
--       bound      an attempt runs; its lapse turns it into settling (something was spent)
--       settling   ended at `at`; its points stay until a reading written after `at`, or the window's reset
--       estimated  settling past its ceiling: still counts, but is shown separately
-- `sums` caches their totals: inflight, lane:<lane>, w:<window>. recount.lua checks and corrects it.
-- `closed`: { til, reason, n, at, canary = 1, holder, stated, number } after a refusal. Once `til` has passed, one
-- canary goes first. `holder` names its reservation; only that one is the canary, whoever was admitted as one before.
-- `flags`: { refused = 1 when a worker was refused since the last wake, ended = when a run of ours last ended,
--   closings, asserted, history = the history of writes that this data is from (`history()`), historyAt = since when }

local function clock()
  local t = redis.call('TIME')
  return t[1] * 1000 + math.floor(t[2] / 1000)
end
local now = clock()

-- Redis' replication id. It changes when a server starts and when a replica takes over, and either may know less than
-- was acknowledged. Costs half a microsecond; nil if the server does not tell it.
local function history() return string.match(redis.call('INFO', 'replication') or '', 'master_replid:(%x+)') end

local G = { meter = KEYS[1], res = KEYS[2], lease = KEYS[3], sum = KEYS[4], closed = KEYS[5], flags = KEYS[6] }

local function load(id)
  local raw = redis.call('HGET', G.res, id)
  if raw then return cjson.decode(raw) end
  return nil
end

-- Makes costs whole and not negative. On a fraction HINCRBY would fail in the middle of the script, and Redis does not
-- undo what the script wrote before.
local function whole(cost)
  local out = {}
  for w, c in pairs(cost) do out[w] = math.max(math.ceil(c), 0) end
  return out
end

local function save(id, r) redis.call('HSET', G.res, id, cjson.encode(r)) end

local function in_flight(r) return r.st == 'token' or r.st == 'bound' end

local function count(r, sign)
  if r.lent then return end
  redis.call('HINCRBY', G.sum, 'inflight', sign)
  redis.call('HINCRBY', G.sum, 'lane:' .. r.lane, sign)
end

local function charge(r, sign)
  for w, c in pairs(r.cost) do
    if c ~= 0 then redis.call('HINCRBY', G.sum, 'w:' .. w, sign * c) end
  end
end

-- Wakes refused workers. Without `always`, only if one was refused since the last wake, because releases are frequent.
local function wake(channel, account, always)
  if always or redis.call('HGET', G.flags, 'refused') == '1' then
    redis.call('HSET', G.flags, 'refused', '0')
    redis.call('PUBLISH', channel, account)
  end
end

-- The window event of a closed account: (account, reason, reset), or the closing's number if no reset was stated. A
-- dispatch that left a lane because of an event is not offered that lane again while the event lasts.
local function closing_event(account)
  local c = redis.call('HMGET', G.closed, 'til', 'reason', 'stated', 'number')
  if not c[1] then return nil end
  if c[3] == '1' then return { event = account .. '/' .. c[2] .. '/' .. c[1], ['until'] = tonumber(c[1]) } end
  return { event = account .. '/closing/' .. (c[4] or '0'), closing = tonumber(c[4] or '0') }
end

local function is_canary(id) return redis.call('HGET', G.closed, 'holder') == id end

-- Every removal or end of a reservation must also free the canary's place, or the account stays shut behind a ghost.
local function leave_canary(id)
  if is_canary(id) then redis.call('HDEL', G.closed, 'holder') end
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
  r.lent = nil
  r.st = 'settling'
  r.at = now
  save(id, r)
  redis.call('ZADD', G.lease, now + ceiling, id)
  leave_canary(id)
end

-- Takes the points of the windows in `of` off an ended reservation. The reservation is dropped once it has no points
-- left in a window that the meter knows; points in windows that nobody reports would otherwise stay for ever.
local function take_off(id, r, of, windows)
  local left = false
  for w, c in pairs(r.cost) do
    if c ~= 0 and of[w] then
      redis.call('HINCRBY', G.sum, 'w:' .. w, -c)
      r.cost[w] = 0
    elseif c ~= 0 and windows[w] then
      left = true
    end
  end
  if left then save(id, r) else drop(id, r) end
end

-- Handles lapsed leases, at most 200 per call. Returns whether a slot or points became free.
local function sweep(ceiling)
  local lapsed = redis.call('ZRANGEBYSCORE', G.lease, '-inf', now, 'LIMIT', 0, 200)
  local freed = false
  for _, id in ipairs(lapsed) do
    local r = load(id)
    if not r then
      redis.call('ZREM', G.lease, id)
    elseif r.st == 'token' then
      drop(id, r)
      freed = true
    elseif r.st == 'bound' then
      settle(id, r, ceiling)
      freed = true
    else
      r.st = 'estimated'
      save(id, r)
      redis.call('ZREM', G.lease, id)
    end
  end
  return freed
end

-- Treats a window whose reset has passed as unused. Runs that ended before the reset belonged to the old window and
-- lose their points. Runs in flight, and runs that ended after the reset but before this call saw it, keep theirs,
-- because they draw on the new window.
local function roll()
  local rolled = nil
  local windows = {}
  local raw = redis.call('HGET', G.meter, 'windows')
  if raw then windows = cjson.decode(raw) end
  for id, w in pairs(windows) do
    if w.resetsAt and w.resetsAt <= now then
      rolled = rolled or {}
      rolled[id] = w.resetsAt
      w.used = 0
      w.resetsAt = nil
    end
  end
  if rolled then
    redis.call('HSET', G.meter, 'windows', cjson.encode(windows))
    local all = redis.call('HGETALL', G.res)
    for i = 1, #all, 2 do
      local r = cjson.decode(all[i + 1])
      if not in_flight(r) then
        local of = {}
        for w, reset in pairs(rolled) do of[w] = r.at < reset end
        take_off(all[i], r, of, windows)
      end
    end
  end
  return windows, rolled ~= nil
end

-- Applies what the passing of time has changed, and wakes refused workers if that made room. Needs `a.ceiling`,
-- `a.channel` and `a.account`. Returns the windows.
local function catch_up(a)
  local freed = sweep(a.ceiling)
  local windows, rolled = roll()
  if freed or rolled then wake(a.channel, a.account, false) end
  return windows
end

local function sum(field) return tonumber(redis.call('HGET', G.sum, field) or '0') end
