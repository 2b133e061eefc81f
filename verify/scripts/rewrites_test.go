package scripts

import (
	"strings"
	"testing"
)

// harmless contains scripts that may delete a key and write it again, with a part of the key.
//   - admit: a node without its guard does not vote, and an operator can vouch for it again.
//   - acquireslot: it acquires in one of two places, never in both. And a slot of a semaphore has no readers.
var harmless = map[string]string{"admit": "holdfast:node", "acquireslot": "':readers'"}

// A renewal in a hash slot that is being moved must not lose the record that it renews. So there is a rule for all
// scripts: none deletes a key and writes it again.
func TestNoScriptWritesAKeyThatItHasDeleted(t *testing.T) {
	for name, text := range whole() {
		found, err := rewrites(name, text)
		if err != nil {
			t.Fatal(err)
		}
		part, used := harmless[name], false
		for _, one := range found {
			if part != "" && strings.Contains(one, part) {
				used = true
			} else {
				t.Errorf("%s: %s", name, one)
			}
		}
		if part != "" && !used {
			t.Errorf("%s needs no exception any more", name)
		}
	}
}

func TestRewritesAreFound(t *testing.T) {
	head := "local call, sub = redis.call, string.sub\n"
	for text, want := range map[string]bool{
		"call('DEL', KEYS[1]) call('SET', KEYS[1], 'x')":                                                                   true,
		"call('SET', KEYS[1], 'x') call('DEL', KEYS[1])":                                                                   false,
		"if x then call('UNLINK', KEYS[1]) end redis.pcall('HSET', KEYS[1], 'f', 'x')":                                     true,
		"if x then call('DEL', KEYS[1]) else call('SET', KEYS[1], 'x') end":                                                false,
		"if x then call('DEL', KEYS[1]) return end call('SET', KEYS[1], 'x')":                                              false,
		"local key = KEYS[1] call('DEL', key) call('SET', KEYS[1], 'x')":                                                   true,
		"local a = KEYS[1] .. ':q' call('DEL', KEYS[2], a) call('ZADD', KEYS[1] .. ':q', 1, 'x')":                          true,
		"call('DEL', KEYS[1]) call('SET', KEYS[2], 'x')":                                                                   false,
		"local function put(k) call('SET', k, 'x') end call('DEL', KEYS[1]) put(KEYS[1])":                                  true,
		"local function put(k) call('SET', k, 'x') end call('DEL', KEYS[1]) put(KEYS[2])":                                  false,
		"local function drop(k) if k then call('DEL', k) return 1 end end local n = drop(KEYS[1]) call('SET', KEYS[1], n)": true,
		"for i = 1, 2 do call('SET', KEYS[1], 'x') call('DEL', KEYS[1]) end":                                               true,
		"call('HDEL', KEYS[1], 'f') call('HSET', KEYS[1], 'f', 'x')":                                                       true,
		"local h = KEYS[1] .. ':readers' call('HDEL', h, 'f') call('HSET', h, 'f', 'x')":                                   false,
		"local k k = KEYS[1] call('DEL', k) call('SET', KEYS[1], 'x')":                                                     true,
		"pcall(call, 'GET', KEYS[1]) call('DEL', KEYS[1])":                                                                 false,
	} {
		found, err := rewrites("text", head+text)
		if err != nil {
			t.Fatal(err)
		}
		if len(found) > 0 != want {
			t.Errorf("%s: %q", text, found)
		}
	}
}
