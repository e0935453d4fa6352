-- node-lease: one worker per node id.
-- KEYS 1 the node's lease. ARGV[1] JSON { op = 'take' | 'renew' | 'drop', mine, instead, ttl }
--   take: only a free lease, or one that still reads `instead` (its holder was seen dead).
--   renew: also a free one (Redis lost it, or we were stopped past its end).
-- Reply JSON { held, holder, leftMs }.
local a = cjson.decode(ARGV[1])
local holder = redis.call('GET', KEYS[1])
local mine = holder == a.mine
if a.op == 'drop' then
  if mine then redis.call('DEL', KEYS[1]) end
  return cjson.encode({ held = false, holder = holder or '', leftMs = 0 })
end
if not holder or mine or (a.op == 'take' and a.instead ~= '' and holder == a.instead) then
  redis.call('SET', KEYS[1], a.mine, 'PX', a.ttl)
  return cjson.encode({ held = true, holder = a.mine, leftMs = a.ttl })
end
return cjson.encode({ held = false, holder = holder, leftMs = redis.call('PTTL', KEYS[1]) })
