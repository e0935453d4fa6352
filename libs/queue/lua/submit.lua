-- submit: 1..1,000 new dispatches, all or none. An id that is known is left as it is (the client made it: a
-- repeated submit is a re-sent one).
-- KEYS 1 the first record (for routing only).
-- ARGV[1] JSON { k, lookIn, blobs = { kinds }, records = [{ id, state, class, flow, batch?, fields = { name -> string } }] }
-- Reply JSON [{ id, new, tag }].
local a = cjson.decode(ARGV[1])
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
--@include record
-- All or none: an error in the middle would not undo what came before it.
for _, r in ipairs(a.records) do
  local f = r.fields
  if not tonumber(f.submittedAt) or (WAITING[r.state] and (f.queue == '' or f.account == '')) then
    return redis.error_reply('ERR submit: ' .. r.id .. ' has no time, or waits in no queue')
  end
end
local out = {}
for i, r in ipairs(a.records) do
  local key = a.k.record .. r.id
  if redis.call('EXISTS', key) == 1 then
    out[i] = { id = r.id, new = false, tag = tonumber(redis.call('HGET', key, 'tag') or '0') }
  else
    local tag = 0
    if WAITING[r.state] then tag = fair_tag(r.class, r.flow) end
    set_fields(r.id, r.fields)
    redis.call('HSET', key, 'tag', tag)
    for _, kind in ipairs(a.blobs) do redis.call('PERSIST', key .. ':' .. kind) end
    if r.batch then redis.call('ZADD', a.k.batch .. r.batch, now, r.id) end
    enter_state(r.id, r.state, a.lookIn)
    tell(r.id, 'submitted', 1, r.state)
    out[i] = { id = r.id, new = true, tag = tag }
  end
end
return cjson.encode(out)
