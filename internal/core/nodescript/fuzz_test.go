package nodescript

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/node"
)

// A reply may come from a hostile node, or from a server that is no node. The parsers refuse such a reply, and never
// rely on its length.

var fuzzed = Config{N: 3, MaxTTL: 10 * time.Second, Window: 250 * time.Millisecond}

var (
	now16       = "1790000000123456"
	challenge40 = strings.Repeat("c", challengeLen)
)

func FuzzParseReply(f *testing.F) {
	for _, s := range []string{
		"", "G", "G0", "G1", "E", "E" + now16, "R", "R" + now16, "D", "F", "N", "C", "O" + now16, "S" + now16, "P" + now16, "Hl" + now16 + "owner", "Hf9999999999999999",
		"Hc" + now16 + "000003owner", "Hl" + now16 + "------owner", "Hl" + now16 + "------0007owner", "Hc" + now16 + "000003----owner", "Hc", "Hl-790000000123456000003owner", "G2", "G17", "Z", "17", "Hz" + now16 + "------owner", "L", "Lg", "Llowner", "O12", "S-790000000123456", "H" + now16,
	} {
		for op := range ops {
			f.Add(uint8(op), s)
		}
	}
	f.Fuzz(func(t *testing.T, op uint8, s string) {
		a := ParseReply(Op(op)%ops, node.Reply{Value: s})
		if a.Verdict == Unanswered || (a.Verdict == Failed) != (a.Err != nil) {
			t.Fatalf("%q: %+v", s, a)
		}
		if a.Left < 0 || a.Seen < 0 || a.Time < 0 {
			t.Fatalf("%q: a negative time: %+v", s, a)
		}
		if a.Offered && (a.Full || a.Slot < 0 || a.Slot > 9999) {
			t.Fatalf("%q: slot %d", s, a.Slot)
		}
		if a.Rank < -1 {
			t.Fatalf("%q: rank %d", s, a.Rank)
		}
		if a.Verdict == Held && strings.Trim(s[2:2+digits], "0123456789") != "" {
			t.Fatalf("%q: held for %s", s, a.Left)
		}
		if yes := a.Verdict == Granted || a.Verdict == Extended; yes && s != "G0" && s != "G1" && s != "E" && (s[0] != 'E' || a.Time == 0 || len(s) != 1+digits) {
			t.Fatalf("%q counts as a yes", s)
		}
	})
}

func FuzzParseAdmit(f *testing.F) {
	for _, s := range []string{
		"", "R" + now16, "O" + now16, "Q" + now16 + "0000000010250000new", "Mprotocol=1", "Urole slave", "I", "Q", "R", "Rx",
		"Q" + now16 + "0000000010250000" + challenge40 + "restarted", "M" + challenge40 + "protocol=2 nodes=3 newer",
		// These replies contain codes of a newer node.
		"Q" + now16 + "0000000010250000" + challenge40 + "17", "U17", "U17 R", "U", "V17", "R17", "17",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a := ParseAdmit(fuzzed, node.Reply{Value: s})
		if a.Verdict == Unanswered || (a.Verdict == Failed) != (a.Err != nil) {
			t.Fatalf("%q: %+v", s, a)
		}
		if a.Left < 0 || a.Left > fuzzed.Quarantine() {
			t.Fatalf("%q: quarantined for %v", s, a.Left)
		}
		if a.Verdict == Done && (s[0] != 'R' || len(s) != 1+digits) {
			t.Fatalf("%q counts as a yes", s)
		}
		if (a.Cause == UnknownCause) != (a.Cause.String() == "unknown") || a.Cause == UnknownCause && a.Value() == "" {
			t.Fatalf("%q: %+v", s, a)
		}
		if len(a.Value()) > mostOfConfig {
			t.Fatalf("%q: %d bytes of evidence", s, len(a.Value()))
		}
	})
}

func FuzzParseView(f *testing.F) {
	record := Record{Seen: 1, Token: 1, Expiry: 2, Owner: "o"}.String()
	for _, s := range []string{
		"", now16 + "--9999999999999999000000", now16 + "sv0000000001000000000050" + record + "o", now16 + "t-9999999999999999000001?",
		now16 + "sv0000000001000000999999" + record,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, err := ParseView(node.Reply{Value: s})
		if err == nil && v.Written && !strings.Contains(s, v.Record.String()) {
			t.Fatalf("%q was read as %+v", s, v)
		}
		if v.Live() && v.Record.Owner == "" || v.Left < 0 {
			t.Fatalf("%q was read as %+v", s, v)
		}
	})
}

func FuzzParseRecord(f *testing.F) {
	f.Add("")
	f.Add(Record{}.String())
	f.Add(Record{Seen: 1, Token: 2, Expiry: 3, Waiting: true, Owner: "o"}.String())
	f.Fuzz(func(t *testing.T, s string) {
		if r, err := ParseRecord(s); err == nil && r.String() != s {
			t.Fatalf("%q prints back as %q", s, r.String())
		}
	})
}

func FuzzCheckName(f *testing.F) {
	for _, s := range []string{"", "x", "{x}", "holdfast:node", "x:holdfast", "}{", "{}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if err := CheckName(name); err != nil {
			if len(name) <= MaxName && !utf8.ValidString(err.Error()) {
				t.Fatalf("%q: the error is not printable: %q", name, err)
			}
			return
		}
		// The key of the record must not be a name itself, and it must show the lock's name.
		key, ok := strings.CutSuffix(RecordKey(name), recordTail)
		if !ok || CheckName(RecordKey(name)) == nil {
			t.Fatalf("%q: the record key %q could be a name", name, RecordKey(name))
		}
		if back := strings.TrimSuffix(key, taggedExtra); tagged(name) && back != name {
			t.Fatalf("%q: record key %q", name, RecordKey(name))
		} else if !tagged(name) && key != "{"+name+"}" {
			t.Fatalf("%q: record key %q", name, RecordKey(name))
		}
	})
}

func FuzzParseHello(f *testing.F) {
	f.Add("")
	f.Add(now16 + "run\nRedis 7.0.15")
	f.Add("5000123run\nRedis 7.0.15")
	f.Fuzz(func(t *testing.T, s string) {
		if h, err := ParseHello(node.Reply{Value: s}); err == nil && (h.Run == "" || h.Time < 0) {
			t.Fatalf("%q was read as %+v", s, h)
		}
	})
}

func FuzzParseHandoff(f *testing.F) {
	owner := NewOwner("web-3/1", "client", 1790000000123456, []byte("random"))
	f.Add("")
	for _, lock := range []Lock{{Name: "orders/42"}, {Name: "a{b}c", Private: true}, {Name: "line\nline"}} {
		f.Add(Handoff{Owner: owner, Seen: 1790000000123456, Lock: lock}.String())
	}
	f.Add(now16 + owner)
	f.Add(now16)
	f.Add("-790000000123456" + owner + "\n1{x}:holdfast")
	f.Fuzz(func(t *testing.T, s string) {
		h, ok := ParseHandoff(s)
		if ok && (h.Owner == "" || h.Seen < 0 || CheckName(h.Lock.Name) != nil || h.String() != s) {
			t.Fatalf("%q was read as %+v", s, h)
		}
	})
}

func FuzzTicket(f *testing.F) {
	f.Add("web-3/1", "client", int64(1790000000123456), "random")
	f.Add("", "", int64(0), "")
	f.Add("~", "~-", int64(-1), "~left")
	f.Fuzz(func(t *testing.T, label, client string, ticket int64, random string) {
		ticket = max(ticket, -ticket-1) // no stamp is negative
		owner := NewOwner(label, client, ticket, []byte(random))
		got, ok := Ticket(owner)
		if !strings.Contains(label+client, "~") && (!ok || got != ticket) {
			t.Fatalf("the ticket of %q is %d, %v; want %d", owner, got, ok, ticket)
		}
		Ticket(label + client + random) // anything is allowed for a foreign owner
		if left, ok := Ticket(LeftOwner(owner)); ok && left != got {
			t.Fatalf("the ticket of %q is %d; want %d", LeftOwner(owner), left, got)
		}
	})
}

func FuzzParsePeers(f *testing.F) {
	for _, s := range []string{
		"", "M", "O" + now16, "P" + now16, "P" + now16 + "id\n\n",
		"P" + now16 + "id\nb c \n" + now16 + " a redis://h1\n" + now16 + " d redis://h2\n", "P" + now16 + "\n\n\x1b[2J \x00 x\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ParsePeers(node.Reply{Value: s})
		if err != nil || p.Other {
			return
		}
		for _, m := range append(p.Members, Peer{ID: p.ID, Addr: "_"}) {
			if m.ID != "" && m.ID != CleanID(m.ID) || strings.ContainsFunc(m.ID+m.Addr, func(r rune) bool { return r <= ' ' || r > '~' }) {
				t.Fatalf("%q: unprintable: %+v", s, m)
			}
		}
		if len(p.Members) > mostPeers+1 || len(p.Strangers) > mostPeers {
			t.Fatalf("%q: %d members, %d strangers", s, len(p.Members), len(p.Strangers))
		}
	})
}

// The error of a Sentinel quotes the whole script.
func TestAServerWithoutScriptsIsToldInAFewWords(t *testing.T) {
	for _, said := range []string{
		"ERR unknown command 'EVAL', with args beginning with: 'redis.pcall('EXISTS', 'holdfast:node')", "ERR unknown command `eval`",
	} {
		_, err := ParseHello(node.Reply{Err: node.ServerError(said)})
		_, looked := ParseView(node.Reply{Err: node.ServerError(said)})
		for _, err := range []error{err, looked} {
			if err == nil || strings.Contains(err.Error(), "redis.pcall") || !strings.Contains(err.Error(), "Sentinel") {
				t.Errorf("%q is told as %v", said, err)
			}
		}
	}
}

func TestARunIDThatNoServerHasIsRefused(t *testing.T) {
	for _, run := range []string{"a\x1b[2K", "a b", "\u202e", "\x00"} {
		if h, err := ParseHello(node.Reply{Value: now16 + run + "\nRedis 7.0.15"}); err == nil || strings.ContainsAny(err.Error(), "\x1b\x00") {
			t.Errorf("%q: %+v, %v", run, h, err)
		}
	}
	if h, err := ParseHello(node.Reply{Value: now16 + "abc\nRedis 7\x1b[2K"}); err != nil || strings.Contains(h.Version, "\x1b") {
		t.Errorf("a version that forges: %+v, %v", h, err)
	}
}
