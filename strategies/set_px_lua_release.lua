-- Deletes the lock KEYS[1] if its owner token is ARGV[1].
-- Answers 1 released, 0 held by somebody else, -1 held by nobody.
local owner = redis.call('GET', KEYS[1])
if not owner then
  return -1
end
if owner ~= ARGV[1] then
  return 0
end
redis.call('DEL', KEYS[1])
return 1
