-- snapshot: everything that readers may see of an account, at one instant, from the raw reservations.
-- KEYS 1-6 the gate's, 7 the manual controls. ARGV[1] JSON { account, channel, ceiling }.
-- Reply JSON { now, meter = { field -> value }, closed = {…}, flags = {…},
-- sums = {…}, reservations = { id -> JSON }, control = { field -> value } }.
local a = cjson.decode(ARGV[1])
catch_up(a)
local function hash(key)
  local out = {}
  local all = redis.call('HGETALL', key)
  for i = 1, #all, 2 do out[all[i]] = all[i + 1] end
  return out
end
return cjson.encode({ now = now, meter = hash(G.meter), closed = hash(G.closed), flags = hash(G.flags), sums = hash(G.sum), reservations = hash(G.res), control = hash(KEYS[7]) })
