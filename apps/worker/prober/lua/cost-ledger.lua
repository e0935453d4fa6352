-- cost-ledger: puts a ledger in place of the one it was made from, and the samples that came out of it into their
-- lists. KEYS 1 the ledger (hash: version, text), 2 the index of sample lists (set).
-- ARGV[1] JSON { version, text, samples = [{ key, points }], most }
-- Reply: 1 done, 0 somebody else was quicker (nothing was changed).
local a = cjson.decode(ARGV[1])
if (redis.call('HGET', KEYS[1], 'version') or '0') ~= a.version then return 0 end
redis.call('HSET', KEYS[1], 'version', tostring(tonumber(a.version) + 1), 'text', a.text)
for _, sample in ipairs(a.samples) do
  redis.call('LPUSH', sample.key, sample.points)
  redis.call('LTRIM', sample.key, 0, a.most - 1)
  redis.call('SADD', KEYS[2], sample.key)
end
return 1
