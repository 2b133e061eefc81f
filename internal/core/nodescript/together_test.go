package nodescript

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

func fill(t *Together, calls ...Call) *Together {
	for _, c := range calls {
		t.Add(c)
	}
	return t
}

func TestOnlyCallsOfOneShapeTravelTogether(t *testing.T) {
	plain, private := Lock{Name: "x"}, Lock{Name: "x", Private: true}
	acquire := AcquireCall(plain, "o", 1, time.Second)
	for _, c := range []struct {
		what  string
		first Call
		then  Call
		want  bool
	}{
		{"two of a kind", acquire, AcquireCall(Lock{Name: "y"}, "p", 2, time.Minute), true},
		{"one that waits", acquire, QueueCall(plain, "p", 2, time.Second, 2), true},
		{"another operation", acquire, ReleaseCall(plain, "o", 1), false},
		{"another number of keys", acquire, AcquireCall(private, "o", 1, time.Second), false},
		{"one that runs alone", QuitCall(plain, "o"), QuitCall(plain, "p"), false},
	} {
		var both Together
		if !both.Add(c.first) {
			t.Fatalf("%s: the first was not taken", c.what)
		}
		if got := both.Add(c.then); got != c.want {
			t.Errorf("%s: taken is %t", c.what, got)
		}
	}
	var many Together
	for range MostTogether {
		if !many.Add(acquire) {
			t.Fatalf("only %d were taken", many.N)
		}
	}
	if many.Add(acquire) {
		t.Errorf("%d were taken", many.N)
	}
	calls, err := Apart(Acquire, node.Call{Keys: many.Keys, Args: many.Args})
	if err != nil || len(calls) != MostTogether || calls[7].Args[0] != acquire.Args[0] {
		t.Errorf("they come apart as %d calls, %v", len(calls), err)
	}
}

func TestEachOfSeveralGetsItsAnswer(t *testing.T) {
	acquire := AcquireCall(Lock{Name: "x"}, "o", 1, time.Second)
	three := fill(&Together{}, acquire, acquire, acquire)
	held := "Hl" + Micros(5_000_000) + "------other"
	join := func(parts ...string) string { return Join(parts) }
	for _, c := range []struct {
		what  string
		reply node.Reply
		want  string // verdicts and codes
	}{
		{"three answers", node.Reply{Value: join("G0", held, "S"+Micros(9))}, "G H S"},
		{"an error of one", node.Reply{Value: join("G0", Part("", errors.New("WRONGTYPE Operation")), "G1")}, "G WRONGTYPE G"},
		{"one that nobody can read", node.Reply{Value: join("G0", "Go away", "G1")}, "G ? G"},
		{"one that says nothing", node.Reply{Value: join("G0", "", "G0")}, "? ? ?"},
		{"no vote", node.Reply{Value: "N"}, "N N N"},
		{"an error of all", node.Reply{Err: node.ServerError("NOSCRIPT No matching script")}, "NOSCRIPT NOSCRIPT NOSCRIPT"},
		{"cut off", node.Reply{Value: join("G0", "G0", held)[:30]}, "? ? ?"},
		{"one too few", node.Reply{Value: join("G0", "G0")}, "? ? ?"},
		{"one too many", node.Reply{Value: join("G0", "G0", "G0", "G0")}, "? ? ?"},
		{"a byte too many", node.Reply{Value: join("G0", "G0", "G0") + "0"}, "? ? ?"},
		{"no number", node.Reply{Value: "G0" + join("G0", "G0")}, "? ? ?"},
		{"a number beyond the end", node.Reply{Value: "999002002G0G0G0"}, "? ? ?"},
		{"a negative number", node.Reply{Value: "-02004004G0G0G0"}, "? ? ?"},
		{"four digits", node.Reply{Value: "1000002002" + strings.Repeat("G0", 502)}, "? ? ?"},
		{"nothing", node.Reply{}, "? ? ?"},
	} {
		got := make([]string, three.N)
		three.ParseReplies(c.reply, func(i int, a Answer) {
			switch a.Verdict {
			case Granted:
				got[i] += "G"
			case Held:
				got[i] += "H"
			case Stale:
				got[i] += "S"
			case NotAdmitted:
				got[i] += "N"
			case Failed:
				if got[i] += node.Code(a.Err); got[i] == "" {
					got[i] = "?"
				}
			}
		})
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s: %s, want %s", c.what, s, c.want)
		}
	}
}

// Every call gets exactly one answer, whatever a server replies.
func FuzzSeveralAnswers(f *testing.F) {
	for _, s := range []string{"", "N", "002002G0G0", "001001DD", "999", "003001XERD", "000002G0", "N002G0"} {
		f.Add(s, 2, uint8(Acquire))
	}
	f.Fuzz(func(t *testing.T, value string, n int, op uint8) {
		if n < 1 || n > MostTogether {
			return
		}
		together, told := Together{Op: Op(op) % ops, N: n}, make([]int, n)
		together.ParseReplies(node.Reply{Value: value}, func(i int, a Answer) {
			if told[i]++; a.Verdict == Unanswered {
				t.Errorf("answer %d of %d to %q says nothing", i, n, value)
			}
		})
		for i, times := range told {
			if times != 1 {
				t.Errorf("call %d of %d was answered %d times by %q", i, n, times, value)
			}
		}
	})
}
