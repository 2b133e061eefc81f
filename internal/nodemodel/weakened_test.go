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
	{"a lease is over a microsecond late", "local live = before ~= '' and now < expiry", "local live = before ~= '' and now <= expiry"},
	{"a live lease is taken", "if live and before ~= owner then", "if false then"},
	{"a claim is told as a lease", "and 'c' or 'l'", "and 'l' or 'l'"},
	{"acquire without a window", "if now < ARGV[4] or now > ARGV[5] then", "if false then"},
	{"a window a microsecond too narrow", "if now < ARGV[4] or now > ARGV[5] then", "if now <= ARGV[4] or now > ARGV[5] then"},
	{"acquire without a guard", "if call('GET', 'holdfast:node') ~= '", "if '' == '"},
	{"POISONED is told as STALE", "if seen > now and seen - now > 250000 then", "if false then"},
	{"a foreign lock is overwritten", "if v == '' or (v ~= before and v ~= owner) then", "if false then"},
	{"an empty foreign value counts as none", "if v == '' or (v ~= before and v ~= owner) then", "if v ~= before and v ~= owner then"},
	{"an expired owner's plain key is foreign", "if v == '' or (v ~= before and v ~= owner) then", "if v ~= owner then"},
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
	{"release without an owner check", "if sub(old, 50) == owner then\nlocal own", "if true then\nlocal own"},
	{"release deletes a foreign plain key", "if KEYS[2] and redis.pcall('GET', KEYS[2]) == owner then call('DEL', KEYS[2]) end", "if KEYS[2] then call('DEL', KEYS[2]) end"},
	{"no tombstone where it was mine", "call('SET', KEYS[1], tomb .. '000000000000000000000000000000000', 'PX', ARGV[3])", ""},
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
