-- Included where a delivery may close or open an account (deliver.lua).
--
-- open ──refusal──▶ closed until the stated reset, or the next of the growing bounds ──til past──▶ canary armed
--   ▲                                                                                      │ one attempt goes first
--   └────────────────────────── the canary succeeds ◀──────────────────────────────────────┤
--                               the canary is refused: closed again, bound grown ◀─────────┘
-- A success of a run that began before the refusal opens nothing.
local function close_account(id, r, c)
  local n = tonumber(redis.call('HGET', G.closed, 'n') or '0')
  local til = c.til
  if not til then til = now + c.bounds[math.min(n + 1, #c.bounds)] end
  local known = tonumber(redis.call('HGET', G.closed, 'til') or '0')
  -- Two runs refused by the same window close it once; only a canary's refusal grows the bound.
  if known > now and not r.canary then
    if til > known then redis.call('HSET', G.closed, 'til', til) end
    return
  end
  redis.call('HSET', G.closed, 'til', til, 'reason', c.reason, 'n', n + 1, 'canary', '1', 'at', now)
  redis.call('HDEL', G.closed, 'holder')
end

local function open_account(r)
  if r.canary then redis.call('DEL', G.closed) end
end
