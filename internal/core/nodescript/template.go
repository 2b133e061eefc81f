package nodescript

import (
	"embed"
	"strconv"
	"strings"
	"sync"

	"github.com/holdfast-go/holdfast/node"
)

//go:embed lua/*.lua
var files embed.FS

// template is a script with gaps: literal texts alternate with names of values. It is read once. It is filled for every
// incarnation of a node that a client meets.
type template []string

// templates returns the scripts that depend on the node.
var templates = sync.OnceValue(func() (t struct {
	admit template
	ops   [ops]template
	force [ops]template // of the operations that give a lease back
}) {
	t.admit = strings.Split(strings.ReplaceAll(strings.ReplaceAll(text("admit"), "@VERDICT@", text("quarantine")), "@MARK@", text("mark")), "@")
	handoff, evicted, each, slots := text("handoff"), text("evicted"), text("each"), text("slots")
	shares, readers, forgot, wanted, named := text("shares"), text("readers"), text("forgot"), text("wanted"), text("named")
	for op := range ops {
		source := text(op.String())
		if of, ok := op.ofLock(); ok { // the script of the lock, with a part for the slots
			source = strings.ReplaceAll(text(of.String()), "@EACH@", strings.ReplaceAll(source, "@SLOTS@", slots)+"@EACH@")
		}
		source = strings.ReplaceAll(source, "@HOLDER@", text("holder"))
		none := "N" // the answer of a node that forgot the readers
		switch op {
		case ReleaseShared:
			none = "F"
		case LeaveShared:
			none = "L"
		}
		parts := strings.NewReplacer("@HANDOFF@", handoff, "@EVICTED@", evicted, "@READERS@", readers, "@FORGOT@", forgot, "@WANTED@", wanted, "@NAMED@", named, "@FORCED@", text("forced"),
			"@SHARES@", strings.ReplaceAll(shares, "@NONE@", none), "@EACH@", strings.ReplaceAll(each, "@WIDTH@", strconv.Itoa(op.width())))
		parted := func(source string) template { return strings.Split(parts.Replace(source), "@") }
		t.ops[op] = parted(source)
		if op.HandsOn() {
			t.force[op] = parted(strings.ReplaceAll(source, "@EACH@", text("force")+"@EACH@"))
		}
	}
	return t
})

func (t template) fill(values map[string]string) string {
	var out strings.Builder
	for i, part := range t {
		if i%2 == 1 {
			var known bool
			if part, known = values[part]; !known {
				panic("no value for @" + t[i] + "@") // embedded: cannot fail
			}
		}
		out.WriteString(part)
	}
	return out.String()
}

// clamp is the Lua expression that gives sixteen digits to a clock value with fewer or more. Scripts compare times as
// strings: without clamp a time in 1970 would come after today, and a release would let another owner's record expire.
const clamp = "string.format('%016.0f', math.min(now, 9000000000000000))"

// longest is the length of the longest record.
var longest = strconv.Itoa(MostRecord)

// These texts are the same for all nodes. Clients send them unchanged.
var (
	helloText = sync.OnceValue(func() string {
		return strings.NewReplacer("@CLAMP@", clamp, "@NOINFO@", node.ErrNoInfo.Message).Replace(text("hello"))
	})
	inspectText = sync.OnceValue(func() string {
		return viewing("inspect")
	})
	peersText = sync.OnceValue(func() string { return strings.ReplaceAll(text("peers"), "@CLAMP@", clamp) })
	trustText = sync.OnceValue(func() string { return strings.ReplaceAll(text("trust"), "@MARK@", text("mark")) })
)

// viewing returns the text of a script that has the part view.
func viewing(name string) string {
	s := strings.ReplaceAll(strings.ReplaceAll(text(name), "@VIEW@", text("view")), "@READERS@", text("readers"))
	return strings.NewReplacer("@CLAMP@", clamp, "@LONGEST@", longest, "@OWNER@", strconv.Itoa(MostOwner),
		"@LISTED@", strconv.Itoa(MostListed), "@FEWER@", strconv.Itoa(MostNamed), "@HEADOFVALUE@", strconv.Itoa(HeadOfValue)).Replace(s)
}

// HelloText returns the text of hello.
func HelloText() string { return helloText() }

// InspectText returns the text of inspect.
func InspectText() string { return inspectText() }

// PeersText returns the text of peers.
func PeersText() string { return peersText() }

// TrustText returns the text of trust.
func TrustText() string { return trustText() }

// text returns a script without the lines that are only comments: readers need them, and nodes do not.
func text(name string) string {
	b, err := files.ReadFile("lua/" + name + ".lua")
	if err != nil {
		panic(err) // embedded: cannot fail
	}
	var out strings.Builder
	for line := range strings.Lines(string(b)) {
		if trimmed := strings.TrimSpace(line); trimmed != "" && !strings.HasPrefix(trimmed, "--") {
			out.WriteString(strings.TrimLeft(line, " "))
		}
	}
	return out.String()
}
