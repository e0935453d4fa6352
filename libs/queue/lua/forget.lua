-- forget: removes ended records past their retention, with their texts and index entries. It never removes a record
-- that has not ended, whose receipt line is still owed, or whose `once` key is still valid: sent again, its task would
-- run again.
-- KEYS 1 the first record. ARGV[1] JSON { k, ids, before (of their end, ms), blobs = { kinds } }
-- Reply JSON: the removed ids ([] as {}).
local a = cjson.decode(ARGV[1])
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
--@include record
local gone = {}
for _, id in ipairs(a.ids) do
  local key = a.k.record .. id
  local r = redis.call('HMGET', key, 'state', 'endedAt', 'once', 'batch', 'request')
  local ended = tonumber(r[2] or '')
  local free = r[1] and not LIVE[r[1]] and ended and ended <= a.before
  if free and set(r[3]) and ended > now - ONCE_KEPT then free = false end
  if free and redis.call('ZSCORE', a.k.owed, id) then free = false end
  if free then
    redis.call('ZREM', a.k.state .. r[1], id)
    if set(r[4]) then
      redis.call('ZREM', a.k.batch .. r[4], id)
      -- The census keeps counting removed members so that it still adds up; it goes with the last of them.
      if redis.call('EXISTS', a.k.batch .. r[4]) == 0 then
        redis.call('DEL', a.k.census .. r[4])
        redis.call('ZREM', a.k.batches, r[4])
      end
    end
    for name, value in pairs(cjson.decode(r[5]).labels or {}) do redis.call('ZREM', a.k.label .. name .. '=' .. value, id) end
    redis.call('DEL', key)
    for _, kind in ipairs(a.blobs) do redis.call('DEL', key .. ':' .. kind) end
    gone[#gone + 1] = id
  end
end
return cjson.encode(gone)
