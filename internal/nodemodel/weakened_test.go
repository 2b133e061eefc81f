package nodemodel

import (
	"strings"
	"testing"
)

// weakenings are mistakes somebody might make in the scripts, one line each. What
// each would break is told in docs/protocol.md and shown in redcases_test.go.
var weakenings = []struct{ what, from, to string }{
	{"a token equal to the highest seen is taken", "if T <= seen then", "if T < seen then"},
	{"no token is too small", "if T <= seen then", "if false then"},
	{"a claim counts as a grant", "if live and before == owner and sub(old, 17, 32) == T then", "if live and before == owner and (sub(old, 17, 32) == T or sub(old, 17, 32) == '0000000000000000') then"},
	{"a grant of an earlier round counts for a later one", "if live and before == owner and sub(old, 17, 32) == T then", "if live and before == owner then"},
	{"an expired grant is confirmed", "if live and before == owner and sub(old, 17, 32) == T then", "if before == owner and sub(old, 17, 32) == T then"},
	{"a lease is over a microsecond late", "live = before ~= '' and now < expiry", "live = before ~= '' and now <= expiry"},
	{"a live lease is taken", "if live and before ~= owner and before ~= ARGV[7] then", "if false then"},
	{"a claim is told as a lease", "then kind = 'c' end", "then kind = 'l' end"},
	{"acquire without a window", "if now < ARGV[4] or now > ARGV[5] then", "if false then"},
	{"a window a microsecond too narrow", "if now < ARGV[4] or now > ARGV[5] then", "if now <= ARGV[4] or now > ARGV[5] then"},
	{"acquire without a guard", "if call('GET', 'holdfast:node') ~= '", "if '' == '"},
	{"POISONED is told as STALE", "if seen > now and seen - now > 250000 then", "if false then"},
	{"a foreign lock is overwritten", "if plain and (plain == '' or (plain ~= before and plain ~= owner)) then", "if false then"},
	{"an empty foreign value counts as none", "if plain and (plain == '' or (plain ~= before and plain ~= owner)) then", "if plain and plain ~= before and plain ~= owner then"},
	{"an expired owner's plain key is foreign", "if plain and (plain == '' or (plain ~= before and plain ~= owner)) then", "if plain and plain ~= owner then"},
	{"extend without a window", "if now < ARGV[6] or now > ARGV[7] then", "if false then"},
	{"extend lowers an expiry", "if until_ > expiry then expiry = until_ end", ""},
	{"extend ignores whose T it is", "if before == owner and sub(old, 17, 32) == T then", "if before == owner then"},
	{"repair ignores tokens", "(seen > T or now > ARGV[4])", "(now > ARGV[4])"},
	{"repair needs a token above", "(seen > T or now > ARGV[4])", "(seen >= T or now > ARGV[4])"},
	{"repair of a lease nobody believes in", "(seen > T or now > ARGV[4])", "(seen > T)"},
	{"repair over a live lease", "elseif before ~= '' and before ~= owner and now < until_ then", "elseif false then"},
	{"extend does not raise seen", "if seen < T then seen = T end", ""},
	{"extend over a foreign lock", "if v and v ~= owner and (v ~= before or v == '') then", "if false then"},
	{"a lost plain key is not told", "if v ~= owner then\nanswer = 'R'", "if v ~= owner then"},
	{"extend needs memory", "elseif old then\ncall('DEL', KEYS[1])", "elseif false then"},
	{"release without an owner check", "if sub(old, 50) == owner and sub(old, 17, 32) < ARGV[2] then", "if sub(old, 17, 32) < ARGV[2] then"},
	{"release deletes a foreign plain key", "if plain == owner then call('DEL', KEYS[2]) end", "if KEYS[2] then call('DEL', KEYS[2]) end"},
	{"no tombstone where it was mine", "call('SET', KEYS[1], tomb .. '00000000000000000000000000000000' .. waits, 'PX', ARGV[3])", ""},
	{"no tombstone where it was not", "if tomb > seen then\nlocal", "if false then\nlocal"},
	{"a tombstone lowers seen", "if seen > tomb then tomb = seen end", ""},
	{"a tombstone as far ahead as the client's clock", "if tomb > most then tomb = most end", ""},
	{"a tombstone shortens somebody's record", "if expiry > now then keep =", "if false then keep ="},
	{"release needs memory", "if tomb > seen then\nlocal expiry, keep = sub(old, 33, 48), ARGV[3]\nif expiry > now then keep = math.floor((expiry - now) / 1000) + keep end\ncall('DEL', KEYS[1])", "if tomb > seen then\nlocal expiry, keep = sub(old, 33, 48), ARGV[3]\nif expiry > now then keep = math.floor((expiry - now) / 1000) + keep end"},
	{"1970 is later than today", "if #now ~= 16 then", "if false then"},
	{"leave by another attempt", "if not old or sub(old, 50) ~= owner or sub(old, 17, 32) ~= T then", "if not old or sub(old, 50) ~= owner then"},
	{"leave without a tombstone", "string.format('%016.0f', T + 1)", "string.format('%016.0f', T)"},
	{"refresh without a guard", "local call = redis.call\nif call('GET', 'holdfast:node') ~= '", "local call = redis.call\nif '' == '"},
	{"refresh under a clock that leapt", "if now < ARGV[1] or now > ARGV[2] then return 'O' .. now end\ncall('PEXPIRE'", "call('PEXPIRE'"},
	{"quarantine without W", "quarantine(10250000, 'its memory", "quarantine(10000000, 'its memory"},
	{"quarantine keeps the guard", "call('DEL', guard)", "call('GET', guard)"},
	{"until is not cleared when ready", "'until', '0', 'refreshed'", "'refreshed'"},
	{"admit without a window", "if now < ARGV[1] or now > ARGV[2] then return 'O' .. now end\nlocal r", "local r"},
	{"a vanished guard is put back", "if idle and (", "if true or (idle and "},
	{"an idle guard proves that nothing was lost", "(call('GET', kept) == run or age >= 3610250 * 1000)", "true"},
	{"a voucher is used twice", "if voucher == run or voucher == run .. ' ' .. config then\ncall('DEL', trust)", "if voucher == run or voucher == run .. ' ' .. config then"},
	{"a voucher for another incarnation", "if voucher == run or", "if voucher or"},
	{"another configuration uses the voucher up", "if changed and not idle and voucher ~=", "if changed and not idle and not voucher and voucher ~="},
	{"another configuration takes over", "if changed and not idle and voucher ~=", "if false and voucher ~="},
	{"a tombstone below the token it is for", "if own > tomb then tomb = own end", ""},
	{"a node that may evict votes", "policy ~= 'noeviction' then", "false then"},
	{"a claim counts as a grant for another token", "if live and before == owner and sub(old, 17, 32) == T then", "if live and before == owner and (sub(old, 17, 32) == T or sub(old, 17, 32) < T) then"},
	{"a hand-off is told as a grant", "return 'Hc' .. '", "return 'G0' .. '"},
	{"the first of the queue is handed the name with a token", "seen .. '0000000000000000' .. string", "seen .. seen .. string"},
	{"a hand-off ignores who hears", "heard > 0 then", "heard >= 0 then"},
	{"a hand-off to the last", "redis.pcall('ZPOPMIN', queue)", "redis.pcall('ZPOPMAX', queue)"},
	{"a hand-off that tells nobody", "redis.pcall('PUBLISH', 'holdfast:inbox:' .. (string.match(first, '^[^~]*~([^~]*)~') or ''), seen .. first)", "1"},
	{"a hand-off tells the wrong inbox", "'^[^~]*~([^~]*)~'", "'^([^~]*)~'"},
	{"a hand-off does not tell what was seen", "seen .. first)", "first)"},
	{"only one dead waiter is passed over", "while true do\nlocal first", "for _ = 1, 1 do\nlocal first"},
	{"a claim lowers seen", "call('SET', KEYS[1], seen .. '0000000000000000'", "call('SET', KEYS[1], '0000000000000000' .. '0000000000000000'"},
	{"a claim raises seen", "call('SET', KEYS[1], seen .. '0000000000000000'", "call('SET', KEYS[1], now .. '0000000000000000'"},
	{"a claim of a release forgets the tombstone", "handoff(tomb)", "handoff(seen)"},
	{"a claim for longer than a second", "now + 1000000)", "now + 1000001)"},
	{"a claim forgets that others wait", "local others = call('EXISTS', queue) == 1 and '1' or '0'", "local others = '0'"},
	{"a claim says that nobody's others wait", "local others = call('EXISTS', queue) == 1 and '1' or '0'", "local others = '1'"},
	{"a claim without a plain key", "if KEYS[2] then call('SET', KEYS[2], first, 'PX', 1000) end", ""},
	{"release hands on over a foreign key", "(not plain or plain == owner) and", ""},
	{"release hands nothing on", "handoff(tomb)", ""},
	{"a clock that is ahead hands on", "and now - ARGV[2] <= 10250000 then", "then"},
	{"release forgets that others wait", "'00000000000000000000000000000000' .. waits, 'PX'", "'000000000000000000000000000000000', 'PX'"},
	{"release of a later grant", "and sub(old, 17, 32) < ARGV[2] then", "then"},
	{"release does not cover its own stamp", "and sub(old, 17, 32) < ARGV[2] then", "and sub(old, 17, 32) + 1 < ARGV[2] + 0 then"},
	{"release leaves its owner in the queue", "if waits == '1' then redis.pcall('ZREM'", "if false then redis.pcall('ZREM'"},
	{"a queue that is none keeps the name", "redis.pcall('ZPOPMIN'", "call('ZPOPMIN'"},
	{"a queue that is none keeps the tombstone", "redis.pcall('ZREM'", "call('ZREM'"},
	{"a waiter does not join", "call('ZADD', queue, 'NX', ARGV[6], owner)\ncall('PEXPIRE'", "call('ZADD', queue, 'XX', ARGV[6], owner)\ncall('PEXPIRE'"},
	{"everybody joins", "if ARGV[6] ~= '' then\nlocal queue", "if true then\nlocal queue"},
	{"a ticket changes", "call('ZADD', queue, 'NX', ARGV[6], owner)\ncall('PEXPIRE'", "call('ZADD', queue, ARGV[6], owner)\ncall('PEXPIRE'"},
	{"a queue for ever", "call('PEXPIRE', queue, 60000)", ""},
	{"who joins does not raise the flag", "if waits ~= '1' then call('SET', KEYS[1], sub(old, 1, 48) .. '1' .. before, 'KEEPTTL') end", ""},
	{"the flag makes a record last for ever", "'1' .. before, 'KEEPTTL')", "'1' .. before)"},
	{"the flag keeps its answer only", "'1' .. before, 'KEEPTTL')", "'1' .. owner, 'KEEPTTL')"},
	{"a rank from the end", "math.min(call('ZRANK', queue, owner), 999999)", "math.min(call('ZREVRANK', queue, owner), 999999)"},
	{"a token is compared before the queue is joined", "if live and before ~= owner and before ~= ARGV[7] then", "if T <= seen then return 'S' .. seen end\nif live and before ~= owner and before ~= ARGV[7] then"},
	{"a pass to a stranger", "and before ~= ARGV[7] then", "and ARGV[7] == '' then"},
	{"no pass", "and before ~= ARGV[7] then", "then"},
	{"a pass whatever was seen", "if T <= seen then", "if T <= seen and ARGV[7] == '' then"},
	{"who asks first is served first", "if first and first ~= owner then", "if false then"},
	{"the first is handed what it may take", "if first and first ~= owner then", "if first then"},
	{"who waits is passed over by a live claim's owner", "if not live then\nif ARGV[6]", "if true then\nif ARGV[6]"},
	{"who asks for a free name does not join", "if ARGV[6] ~= '' then call('ZADD', queue, 'NX', ARGV[6], owner) end", ""},
	{"acquire hands on over a foreign key", "plain = waits == '1' and redis.pcall('GET', KEYS[2]) or false", "plain = false"},
	{"who has the name still waits", "call('ZREM', queue, owner)\nwaits", "waits"},
	{"a grant forgets that others wait", "waits = call('EXISTS', queue) == 1 and '1' or '0'", "waits = '0'"},
	{"a grant says that nobody's others wait", "waits = call('EXISTS', queue) == 1 and '1' or '0'", ""},
	{"a grant to a waiter leaves the claim's plain key", "mine = sub(mine, 1, 48) .. waits .. owner\nif KEYS[2] then call('SET', KEYS[2], owner, 'PX', ARGV[2]) end", "mine = sub(mine, 1, 48) .. waits .. owner"},
	{"extend forgets that others wait", "expiry .. flag .. owner", "expiry .. '0' .. owner"},
	{"leave forgets that others wait", "sub(old, 49, 49) .. ARGV[4]", "'0' .. ARGV[4]"},
	{"quit of somebody else", "redis.call('ZREM', KEYS[1] .. ':queue', ARGV[1])", "redis.call('ZPOPMIN', KEYS[1] .. ':queue')"},
	{"quit of all", "redis.call('ZREM', KEYS[1] .. ':queue', ARGV[1])", "redis.call('DEL', KEYS[1] .. ':queue')"},
	{"quit of nobody", "redis.call('ZREM', KEYS[1] .. ':queue', ARGV[1])", ""},
	{"quit without a guard", "if redis.call('GET', 'holdfast:node') ~= '", "if '' == '"},
	{"a clock that went back ends the quarantine never", "if r[3] - now > 10250000 then", "if false then"},
}

// TestWeakenedScriptsAreFound: the comparison with the model is worth as much as the
// mistakes it finds. Each is made on the server's side only, and must show.
func TestWeakenedScriptsAreFound(t *testing.T) {
	w := newWorld(t)
	for _, m := range weakenings {
		t.Run(m.what, func(t *testing.T) {
			found := false
			w.weaken = func(text string) string {
				found = found || strings.Contains(text, m.from)
				return strings.ReplaceAll(text, m.from, m.to)
			}
			total := 0
			for seed := range uint64(200) {
				ops, how := play(w, seed, round)
				if total += len(ops); how != "" {
					t.Logf("found after %d operations", total)
					break
				}
			}
			if !found {
				t.Fatalf("no script contains %q any more", m.from)
			}
			if total == 200*round {
				t.Fatalf("not found in %d operations", total)
			}
		})
	}
}
