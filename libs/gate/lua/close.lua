-- Included where a delivery may close or open an account (deliver.lua).
--
-- open ──refusal──▶ closed until the stated reset, or the next of the growing bounds ──til past──▶ canary armed
--   ▲                                                                                      │ one attempt goes first
--   └────────────────────────── the canary succeeds ◀──────────────────────────────────────┤
--               a refusal, the canary's or another's: closed again, bound grown ◀──────────┤
--               the canary ends in any other way: the next one goes first ◀────────────────┘
-- Only the canary can open the account. The success of a run that began before the refusal, or that a later refusal
-- has removed as canary, opens nothing. Call both functions while the attempt's reservation is still in flight.
--
-- Two runs refused by one window close it once: while it is closed, a further refusal can only postpone the reset.
-- c = { til? (stated reset), reason, bounds = { ms, … } }
local function close_account(id, c)
  local known = tonumber(redis.call('HGET', G.closed, 'til') or '0')
  local til = c.til
  -- A reset that has already passed does not say when to try again.
  if til and til <= now then til = nil end
  if known > now and not is_canary(id) then
    if til and til > known then redis.call('HSET', G.closed, 'til', til, 'stated', '1') end
    return
  end
  local n = tonumber(redis.call('HGET', G.closed, 'n') or '0') + 1
  local stated = til and '1' or '0'
  til = til or now + c.bounds[math.min(n, #c.bounds)]
  -- `n` starts again after each opening; this number identifies the closing for good.
  local number = redis.call('HINCRBY', G.flags, 'closings', 1)
  redis.call('HSET', G.closed, 'til', til, 'reason', c.reason, 'n', n, 'canary', '1', 'at', now, 'stated', stated, 'number', number)
  redis.call('HDEL', G.closed, 'holder')
end

-- Returns whether it opened the account.
local function open_account(id)
  if not is_canary(id) then return false end
  redis.call('DEL', G.closed)
  return true
end
