-- behind: notes that a dispatch waits for another attempt (`holder`) that works in its folder, or no longer does.
-- Changes nothing else. KEYS 1 the record. ARGV[1] JSON { k, id, attempt, holder? }
-- Reply 1 noted, 0 the dispatch no longer waits as that attempt.
local a = cjson.decode(ARGV[1])
local rec = redis.call('HMGET', KEYS[1], 'state', 'attempt')
if not ((rec[1] == 'queued' or rec[1] == 'retrying') and rec[2] == tostring(a.attempt)) then return 0 end
if a.holder then redis.call('HSET', KEYS[1], 'behind', a.holder, 'behindAs', a.attempt) else redis.call('HDEL', KEYS[1], 'behind', 'behindAs') end
redis.call('PUBLISH', a.k.changed, a.id)
return 1
