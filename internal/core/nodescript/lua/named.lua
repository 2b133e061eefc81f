-- named: a part of acquire and acquire-shared, in the place of @NAMED@. It returns the text in which an answer names
-- the readers: the number of readers, and then the owners of the first readers, one per line. Claims do not count.
-- Owners for which there is no room are left out.
-- Sets: named
local function named(live)
  local n, list, size = 0, {}, 0
  while live[n + 1] and live[n + 1][2] ~= '0000000000000000' do
    n = n + 1
    if n == 1 or n <= @NAMEDMOST@ and size + #live[n][1] < @NAMEDSIZE@ then
      list[#list + 1] = live[n][1]
      size = size + #live[n][1] + 1
    end
  end
  return string.format('%06d', math.min(n, 999999)) .. table.concat(list, '\n')
end
