package nodescript

import (
	"embed"
	"strconv"
	"strings"
	"sync"
)

//go:embed lua/*.lua
var files embed.FS

// template is a script with gaps: literal text and names of values by turns. It is read once, and
// filled for every incarnation of a node that a client meets.
type template []string

// templates are those whose gaps depend on the node.
var templates = sync.OnceValue(func() (t struct {
	admit template
	ops   [ops]template
}) {
	t.admit = strings.Split(strings.ReplaceAll(text("admit"), "@MARK@", text("mark")), "@")
	handoff, evicted, each := text("handoff"), text("evicted"), text("each")
	for op := range ops {
		parts := strings.NewReplacer("@HANDOFF@", handoff, "@EVICTED@", evicted, "@EACH@", strings.ReplaceAll(each, "@WIDTH@", strconv.Itoa(op.width())))
		t.ops[op] = strings.Split(parts.Replace(text(op.String())), "@")
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

// clamp makes sixteen digits of a clock that has fewer or more: as strings, 1970 would
// come after today, and a release would let somebody's record expire.
const clamp = "string.format('%016.0f', math.min(now, 9000000000000000))"

// longest is how long a record is at most.
var longest = strconv.Itoa(MostRecord)

// Texts that are the same for all nodes, and are sent as such.
var (
	helloText   = sync.OnceValue(func() string { return strings.ReplaceAll(text("hello"), "@CLAMP@", clamp) })
	inspectText = sync.OnceValue(func() string {
		return strings.NewReplacer("@CLAMP@", clamp, "@LONGEST@", longest).Replace(text("inspect"))
	})
	peersText = sync.OnceValue(func() string { return strings.ReplaceAll(text("peers"), "@CLAMP@", clamp) })
	trustText = sync.OnceValue(func() string { return strings.ReplaceAll(text("trust"), "@MARK@", text("mark")) })
)

// HelloText is the text of hello.
func HelloText() string { return helloText() }

// InspectText is the text of inspect.
func InspectText() string { return inspectText() }

// PeersText is the text of peers.
func PeersText() string { return peersText() }

// TrustText is the text of trust.
func TrustText() string { return trustText() }

// text returns a script without its comments, which are for readers, not for the wire.
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
