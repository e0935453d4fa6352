-- submit: records 1..1,000 new dispatches, all or none. A known id is left as it is: clients make the ids, so a known
-- one means that the submit was sent again. A known `once` key stands for its first dispatch, whatever the new id.
-- KEYS 1 the first record (for routing only).
-- ARGV[1] JSON { k, lookIn, records = [{ id, state, class, flow, batch?, labels = { label }?,
--   once? = { key, body (digest of the task) }, retryOf?, fields = { name -> string }, texts = { kind -> its ARGV } }] }
-- ARGV[2…] the texts, compressed, so that a record is never there without them, nor they without it.
-- Reply JSON { records = [{ id, new, tag }] } in the order sent, or
-- { conflict = { key, id } }: that key belongs to another task.
local a = cjson.decode(ARGV[1])
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
--@include record

-- Marks, once, the dispatch that a retry replaces: a batch is judged by the last of each chain.
local function retried(of, id, batch)
  local was = redis.call('HMGET', a.k.record .. of, 'state', 'retriedBy', 'batch')
  if not was[1] or set(was[2]) then return end
  redis.call('HSET', a.k.record .. of, 'retriedBy', id)
  if set(was[3]) and was[3] == batch then redis.call('HINCRBY', a.k.census .. batch, 'r:' .. was[1], 1) end
end

-- Check everything first: an error in the middle would not undo what was written before it.
local first = {}
local same = {}
for i, r in ipairs(a.records) do
  local f = r.fields
  if not tonumber(f.submittedAt) or (WAITING[r.state] and not (set(f.queue) and set(f.account))) then
    return redis.error_reply('ERR submit: ' .. r.id .. ' has no time, or waits in no queue')
  end
  if r.once and redis.call('EXISTS', a.k.record .. r.id) == 0 then
    local known = first[r.once.key]
    if not known then
      local kept = redis.call('HMGET', a.k.once .. r.once.key, 'id', 'body')
      -- A dispatch that was removed can give no answer.
      if kept[1] and redis.call('EXISTS', a.k.record .. kept[1]) == 1 then known = { id = kept[1], body = kept[2] } end
    end
    if not known then
      first[r.once.key] = { id = r.id, body = r.once.body }
    elseif known.body == r.once.body then
      same[i] = known.id
    else
      return cjson.encode({ conflict = { key = r.once.key, id = known.id } })
    end
  end
end
-- Store the texts first: one that can't be stored must leave no record that names it.
for i, r in ipairs(a.records) do
  local key = a.k.record .. r.id
  if not same[i] and redis.call('EXISTS', key) == 0 then
    for kind, at in pairs(r.texts) do redis.call('SET', key .. ':' .. kind, ARGV[at]) end
  end
end
local out = {}
for i, r in ipairs(a.records) do
  local id = same[i] or r.id
  local key = a.k.record .. id
  if redis.call('EXISTS', key) == 1 then
    out[i] = { id = id, new = false, tag = tonumber(redis.call('HGET', key, 'tag') or '0') }
  else
    local tag = 0
    if WAITING[r.state] then tag = fair_tag(r.class, r.flow) end
    set_fields(id, r.fields)
    redis.call('HSET', key, 'tag', tag)
    if r.batch then
      redis.call('ZADD', a.k.batch .. r.batch, now, id)
      redis.call('HINCRBY', a.k.census .. r.batch, 'total', 1)
      redis.call('HSETNX', a.k.census .. r.batch, 'at', now)
      redis.call('ZADD', a.k.batches, now, r.batch)
    end
    for _, label in ipairs(r.labels or {}) do redis.call('ZADD', a.k.label .. label, r.fields.submittedAt, id) end
    if r.once then redis.call('HSET', a.k.once .. r.once.key, 'id', id, 'body', r.once.body) end
    if r.retryOf then retried(r.retryOf, id, r.batch) end
    enter_state(id, r.state, a.lookIn)
    tell(id, 'submitted', 1, r.state)
    out[i] = { id = id, new = true, tag = tag }
  end
end
return cjson.encode({ records = out })
