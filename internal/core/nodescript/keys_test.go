package nodescript

import (
	"strings"
	"testing"
)

// pieces are the parts of names that look like keys, tags and parts of both.
var pieces = []string{"x", "y", "{", "}", ":", "holdfast", ":holdfast", "{x}", "queue", "\x00"}

// each calls f with every string of up to n pieces.
func each(n int, prefix string, f func(string)) {
	f(prefix)
	if n == 0 {
		return
	}
	for _, p := range pieces {
		each(n-1, prefix+p, f)
	}
}

func TestNoTwoNamesShareAKey(t *testing.T) {
	owner := map[string]string{GuardKey: "the node", AdmissionKey: "the node", TrustKey: "the node", KeptKey: "the node"}
	names := map[string]bool{}
	each(5, "", func(name string) {
		if names[name] || CheckName(name) != nil {
			return
		}
		names[name] = true
		record := RecordKey(name)
		keys := []string{name, record, record + ":queue", SlotsQueueKey(name)}
		for _, slot := range []int{0, 1, 10, MostSlots - 1} {
			keys = append(keys, SlotKey(name, slot), SlotKey(name, slot)+":queue")
			if of, at, ok := slotOf(SlotKey(name, slot)); of != name || at != slot || !ok {
				t.Errorf("the key of slot %d of %q is read as that of slot %d of %q", slot, name, at, of)
			}
		}
		if _, _, ok := slotOf(record); ok {
			t.Errorf("the record of %q is read as that of a slot", name)
		}
		for _, key := range keys {
			if o, taken := owner[key]; taken {
				t.Errorf("%q has key %q, as has %q", name, key, o)
			}
			owner[key] = name
		}
	})
	if len(names) < 3000 {
		t.Fatalf("only %d names were looked at", len(names))
	}
}

func TestKeysOfANameShareItsSlot(t *testing.T) {
	// hashed returns the part of a key that Redis Cluster hashes.
	hashed := func(key string) string {
		if _, after, ok := strings.Cut(key, "{"); ok {
			if tag, _, ok := strings.Cut(after, "}"); ok && tag != "" {
				return tag
			}
		}
		return key
	}
	each(4, "", func(name string) {
		for _, key := range []string{RecordKey(name), SlotKey(name, 7), SlotsQueueKey(name)} {
			if CheckName(name) == nil && hashed(key) != hashed(name) {
				t.Errorf("%q hashes %q, its key %q hashes %q", name, hashed(name), key, hashed(key))
			}
		}
	})
}

func TestCheckName(t *testing.T) {
	for _, c := range []struct {
		name string
		says string // part of the error; "" = allowed
	}{
		{"x", ""}, {"orders/42", ""}, {"{tag}x", ""}, {"a{b}{}", ""}, {"{{x}}", ""}, {"\x00\xff\r\n", ""},
		{"holdfast", ""}, {"x:holdfast:", ""}, {strings.Repeat("x", MaxName), ""},
		{"", "empty"}, {strings.Repeat("x", MaxName+1), "1025 bytes"},
		{"holdfast:node", "begins with"}, {"holdfast:node:admission", "begins with"}, {"holdfast:nodes", "begins with"},
		{"x:holdfast", "ends like"}, {"{x}:holdfast", "ends like"}, {"x:holdfast:queue", "ends like"},
		{"{", "braces"}, {"}", "braces"}, {"}{", "braces"}, {"a{b}}", "braces"}, {"a{}b", "empty first pair of braces"}, {"{}", "empty first pair of braces"},
	} {
		err := CheckName(c.name)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("CheckName(%.40q) = %v, want %q", c.name, err, c.says)
		}
	}
}
