-- progress: notes in the record what a running attempt has done so far. Changes nothing else.
-- KEYS 1 the record. ARGV[1] JSON { k, id, attempt, node, silent (ms since it last showed life), progress (JSON text) }
-- Reply 1 noted, 0 the record has changed since.
local a = cjson.decode(ARGV[1])
local rec = redis.call('HMGET', KEYS[1], 'state', 'attempt', 'node')
if not (rec[1] == 'running' and rec[2] == tostring(a.attempt) and rec[3] == a.node) then return 0 end
local t = redis.call('TIME')
redis.call('HSET', KEYS[1], 'progress', a.progress, 'movedAt', t[1] * 1000 + math.floor(t[2] / 1000) - a.silent)
redis.call('PUBLISH', a.k.progress, a.id)
return 1
