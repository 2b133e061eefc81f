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

// template is the text of a script with gaps. Its elements with even index are fixed texts. Each element with odd
// index is the name of the value that fills a gap. A template is made once, and filled for each incarnation of a node
// that a client meets.
type template []string

// templates returns the templates for a node.
var templates = sync.OnceValue(func() *texts { return fillParts("return admit('holdfast:node')\n", "", "", "") })

// shardedTemplates returns the templates for a shard of a Redis Cluster.
var shardedTemplates = sync.OnceValue(func() *texts { return fillParts(text("shard"), text("adopt"), text("arrived"), text("missing")) })

// texts has the templates of all scripts that contain values of the node.
type texts struct {
	admit template
	ops   [ops]template
	force [ops]template // for operations that give a lease back: the script for an operator
}

// fillParts puts the parts into the scripts. result and adopt are parts of admit, arrived is one of acquire, and missing one
// of release.
func fillParts(result, adopt, arrived, missing string) *texts {
	t := &texts{}
	admit := strings.NewReplacer("@VERDICT@\n", text("quarantine"), "@SHARD@\n", result).Replace(text("admit"))
	fed := ""
	if adopt != "" {
		fed = "'fed', field('total_net_repl_input_bytes')"
	}
	admit = strings.NewReplacer("@MARK@\n", text("mark"), "@ADOPT@\n", adopt, "@FED@", fed, "@SHARDED@", strconv.FormatBool(adopt != "")).Replace(admit)
	t.admit = strings.Split(admit, "@")
	handoff, evicted, each, slots := text("handoff"), text("evicted"), text("each"), text("slots")
	shares, readers, forgot, wanted, named := text("shares"), text("readers"), text("forgot"), text("wanted"), text("named")
	for op := range ops {
		source := text(op.String())
		if of, ok := op.ofLock(); ok { // the script for locks, with the part for slots
			source = strings.ReplaceAll(text(of.String()), "@EACH@", strings.ReplaceAll(source, "@SLOTS@", slots)+"@EACH@")
		}
		source = strings.ReplaceAll(source, "@HOLDER@", text("holder"))
		none := "N" // the answer if the node forgot the readers
		switch op {
		case ReleaseShared:
			none = "F"
		case LeaveShared:
			none = "L"
		}
		parts := strings.NewReplacer("@HANDOFF@", handoff, "@EVICTED@", evicted, "@ARRIVED@\n", arrived, "@MISSING@\n", missing, "@READERS@", readers, "@FORGOT@", forgot, "@WANTED@", wanted, "@NAMED@", named, "@FORCED@", text("forced"), "@GONE@", text("gone"),
			"@SHARES@", strings.ReplaceAll(shares, "@NONE@", none), "@EACH@", strings.ReplaceAll(each, "@WIDTH@", strconv.Itoa(op.width())))
		parted := func(source string) template { return strings.Split(parts.Replace(source), "@") }
		t.ops[op] = parted(source)
		if op.HandsOn() {
			t.force[op] = parted(strings.ReplaceAll(source, "@EACH@", text("force")+"@EACH@"))
		}
	}
	return t
}

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

// clamp is a Lua expression. It gives a clock value sixteen digits if the value has fewer or more. Scripts compare
// times as strings. Without clamp, a time in 1970 would be later than today, and a release would let another owner's
// record expire.
const clamp = "string.format('%016.0f', math.min(now, 9000000000000000))"

// longest is the largest length of a record, as text.
var longest = strconv.Itoa(MostRecord)

// These scripts contain no values of a node. Clients send the same texts to all nodes.
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

// viewing returns the text of a script that contains the part view.
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

// text returns a script without lines that are only comments, because nodes do not need them.
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
