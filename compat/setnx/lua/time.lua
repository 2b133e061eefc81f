-- time: the part that the scripts below share. It reads and writes the values of the lock.
-- A value is the Unix time at which the lock ends: in seconds, with or without a fraction, or in milliseconds.
local call = redis.call
local clock = call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000) -- ms

-- ends returns the end of the lock with this value in ms, or nil if the value is no such time. Times before 2001 and
-- after 5138 are refused: other locks have small numbers such as 1 as their value, and their holders never said when
-- they end.
local function ends(value)
  if #value > 32 or not (string.match(value, '^%d+$') or string.match(value, '^%d+%.%d+$')) then return nil end
  local n = tonumber(value)
  if n >= 1e9 and n < 1e11 then return math.floor(n * 1000) end
  if n >= 1e12 and n < 1e14 then return math.floor(n) end
  return nil
end

-- written returns the value for a lock that ends after ttl ms at the earliest. unit is s, ms or f (seconds with a
-- fraction).
local function written(ttl, unit)
  local last = now + ttl + 1
  if unit == 's' then return string.format('%.0f', math.floor((now + ttl) / 1000) + 1) end
  if unit == 'ms' then return string.format('%.0f', last) end
  return string.format('%.0f.%03.0f', math.floor(last / 1000), last % 1000)
end


-- ours reports whether this holder wrote value. ARGV has the holder's values from index first on.
local function ours(value, first)
  for i = first, #ARGV do
    if value == ARGV[i] then return true end
  end
  return false
end

-- raced reports whether value may be the GETSET of a client that lost the race.
local function raced(value) return ends(value) and ends(value) > now end
