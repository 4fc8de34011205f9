-- Gives the lock KEYS[1] a TTL of ARGV[2] milliseconds if its owner token is ARGV[1]. Never creates the key.
-- Answers 1 renewed, 0 not ours any more.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])
