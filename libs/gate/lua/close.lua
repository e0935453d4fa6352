-- Included where a delivery may close or open an account (deliver.lua).
--
-- open ──refusal──▶ closed until the stated reset, or the next of the growing bounds ──til past──▶ canary armed
--   ▲                                                                                      │ one attempt goes first
--   └────────────────────────── the canary succeeds ◀──────────────────────────────────────┤
--               a refusal, the canary's or another's: closed again, bound grown ◀──────────┤
--               the canary ends in any other way: the next one goes first ◀────────────────┘
-- Only the canary opens: a run that began before the refusal, or whose place as canary a later refusal took, opens
-- nothing by its success. Call both while the attempt's reservation is still in flight.
--
-- Two runs refused by the same window close it once: while it is closed a further refusal may only state a later reset.
-- c = { til? (stated reset), reason, bounds = { ms, … } }
local function close_account(id, c)
  local known = tonumber(redis.call('HGET', G.closed, 'til') or '0')
  local til = c.til
  -- A reset that has passed says nothing about when to try again.
  if til and til <= now then til = nil end
  if known > now and not is_canary(id) then
    if til and til > known then redis.call('HSET', G.closed, 'til', til, 'stated', '1') end
    return
  end
  local n = tonumber(redis.call('HGET', G.closed, 'n') or '0') + 1
  local stated = til and '1' or '0'
  til = til or now + c.bounds[math.min(n, #c.bounds)]
  -- Unlike `n`, which begins again, the number names this closing for ever.
  local number = redis.call('HINCRBY', G.flags, 'closings', 1)
  redis.call('HSET', G.closed, 'til', til, 'reason', c.reason, 'n', n, 'canary', '1', 'at', now, 'stated', stated, 'number', number)
  redis.call('HDEL', G.closed, 'holder')
end

-- Returns whether it opened.
local function open_account(id)
  if not is_canary(id) then return false end
  redis.call('DEL', G.closed)
  return true
end
