-- give-back: drops a token that fetched nothing or whose ticket was stale, since nothing was spent.
-- KEYS 1-6 the gate's. ARGV[1] JSON { id, account, channel }. Reply 1 if the token was there.
local a = cjson.decode(ARGV[1])
local r = load(a.id)
if not r or r.st ~= 'token' then return 0 end
drop(a.id, r)
wake(a.channel, a.account, false)
return 1
