-- lend: while an agent only waits for a dispatch that it submitted itself, others may use its slot; its points stay
-- reserved. Taking the slot back needs no admission, because the agent is already working. So for a while there may be
-- one agent more than slots, and nobody is admitted until there is room again.
-- KEYS 1-6 the gate's. ARGV[1] JSON { account, channel, lent, id? | node? (all of this node's) }.
-- Reply: how many changed.
local a = cjson.decode(ARGV[1])
local changed = 0

local function set(id, r)
  if not r or not in_flight(r) or (r.lent or false) == a.lent then return end
  if a.lent then
    count(r, -1)
    r.lent = true
  else
    r.lent = nil
    count(r, 1)
  end
  save(id, r)
  changed = changed + 1
end

if a.id then
  set(a.id, load(a.id))
else
  local all = redis.call('HGETALL', G.res)
  for i = 1, #all, 2 do
    local r = cjson.decode(all[i + 1])
    if r.node == a.node then set(all[i], r) end
  end
end
if a.lent and changed > 0 then wake(a.channel, a.account, false) end
return changed
