-- probe-turn: whose turn it is to ask a vendor for an account's usage, in all processes on all boxes.
--
--   due ──take──▶ asking ──ok──▶ resting until `til` ──▶ due
--                   ├──dark──▶ backing off until `til`, longer each time ──▶ due
--                   └──its lease is over (the asker died)──▶ due
--
-- KEYS 1 the account's probe hash.
-- ARGV[1] JSON { op, now, mine, … }; `now` is the shared clock's, given by the caller so that a test can drive it.
--   take { lease, rest, stamp }: rest: never twice within it. stamp: of the login; another one ends a refusal of the last.
--   ok { til }
--   dark { til, stamp, reason, detail }
--   found {}: a source of this box gave a number.
--   note { quiet, reason, detail }: nobody could be asked here; says nothing while another box gets answers.
-- Reply JSON { taken, why, til, failures }.
local a = cjson.decode(ARGV[1])
local s = {}
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do s[all[i]] = all[i + 1] end
local til, claimTil, at = tonumber(s.til or '0'), tonumber(s.claimTil or '0'), tonumber(s.at or '0')
local failures = tonumber(s.failures or '0')

local function reply(taken, why, when) return cjson.encode({ taken = taken, why = why, til = when, failures = failures }) end
local function fail()
  redis.call('HSET', KEYS[1], 'reason', a.reason, 'detail', a.detail, 'failedAt', a.now)
  if s.reason ~= a.reason or not s.since then redis.call('HSET', KEYS[1], 'since', a.now) end
end

if a.op == 'take' then
  -- Times further ahead than anything here sets are of a clock that has been put right since.
  local far = a.now + 7200000
  if s.claim and claimTil > a.now and claimTil < far and s.claim ~= a.mine then return reply(false, 'asking', claimTil) end
  if at <= a.now and a.now - at < a.rest then return reply(false, failures > 0 and 'backing-off' or 'resting', math.max(til, at + a.rest)) end
  local other = s.refusedStamp and s.refusedStamp ~= a.stamp
  if til > a.now and til < far and not other then return reply(false, failures > 0 and 'backing-off' or 'resting', til) end
  redis.call('HSET', KEYS[1], 'claim', a.mine, 'claimTil', a.now + a.lease, 'at', a.now)
  return reply(true, '', a.now)
end

if a.op == 'found' then
  redis.call('HSET', KEYS[1], 'okAt', a.now)
  redis.call('HDEL', KEYS[1], 'reason', 'detail', 'since', 'failedAt')
  return reply(true, '', 0)
end

if a.op == 'note' then
  if s.okAt and a.now - tonumber(s.okAt) < a.quiet then return reply(false, 'quiet', 0) end
  fail()
  return reply(true, '', 0)
end

-- Whoever lost its claim while it waited for the answer has nothing to say any more.
if s.claim ~= a.mine then return reply(false, 'lost', til) end
redis.call('HDEL', KEYS[1], 'claim', 'claimTil')
redis.call('HSET', KEYS[1], 'til', a.til)
if a.op == 'ok' then
  redis.call('HSET', KEYS[1], 'okAt', a.now, 'failures', 0)
  redis.call('HDEL', KEYS[1], 'reason', 'detail', 'since', 'failedAt', 'refusedStamp')
else
  fail()
  redis.call('HSET', KEYS[1], 'failures', failures + 1)
  if a.stamp then redis.call('HSET', KEYS[1], 'refusedStamp', a.stamp) else redis.call('HDEL', KEYS[1], 'refusedStamp') end
end
return reply(true, '', a.til)
