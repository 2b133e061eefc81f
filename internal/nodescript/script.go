package nodescript

import (
	"crypto/sha1"
	"embed"
	"encoding/hex"
	"strconv"
	"strings"
)

//go:embed lua/*.lua
var files embed.FS

// Op is one of the scripts a node runs by digest.
type Op uint8

// The scripts that are loaded by admit; hello, admit, trust and inspect are sent as text.
const (
	Acquire Op = iota
	Release
	Extend
	Leave
	Refresh
	Quit
	ops
)

var opNames = [ops]string{"acquire", "release", "extend", "leave", "refresh", "quit"}

func (o Op) String() string { return opNames[o] }

// Scripts are the scripts made for one incarnation of a node (its run id) and one
// configuration. Both are part of their text, so a server that restarted does not
// know them, and one that votes under another configuration keeps another guard.
type Scripts struct {
	Run   string // the run id they were made for
	Admit string // text of admit
	texts [ops]string
	shas  [ops]string
}

// NewScripts makes the scripts for a node's incarnation.
func NewScripts(c Config, run string) *Scripts {
	r := strings.NewReplacer(
		"@CLAIM@", strconv.FormatInt(Claim.Microseconds(), 10),
		"@CLAIM16@", Micros(Claim.Microseconds()),
		"@CLAIMMS@", strconv.FormatInt(Claim.Milliseconds(), 10),
		"@STAYMS@", strconv.FormatInt(c.Stays().Milliseconds(), 10),
		"@QUEUEMS@", strconv.FormatInt(QueueKept.Milliseconds(), 10),
		"@CLAMP@", clamp,
		"@GUARD@", quote(c.String()+" "+run),
		"@CONFIG@", quote(c.String()),
		"@RUN@", quote(run),
		"@WINDOW@", strconv.FormatInt(c.Window.Microseconds(), 10),
		"@QUARANTINE@", strconv.FormatInt(c.Quarantine().Microseconds(), 10),
		"@TRUSTED@", strconv.FormatInt(c.TrustedQuarantine().Microseconds(), 10),
		"@GUARDMS@", strconv.FormatInt(GuardKept.Milliseconds(), 10),
		"@KEPTMS@", strconv.FormatInt(ceilMillis(GuardKept+c.Quarantine()), 10),
		"@DURABLE@", strconv.FormatBool(c.Durable),
	)
	handoff, evicted, each := text("handoff"), text("evicted"), text("each")
	s := &Scripts{Run: run, Admit: r.Replace(text("admit"))}
	for op := range ops {
		parts := strings.NewReplacer("@HANDOFF@", handoff, "@EVICTED@", evicted, "@EACH@", strings.ReplaceAll(each, "@WIDTH@", strconv.Itoa(op.width())))
		s.texts[op] = r.Replace(parts.Replace(text(op.String())))
		sum := sha1.Sum([]byte(s.texts[op]))
		s.shas[op] = hex.EncodeToString(sum[:])
	}
	return s
}

// SHA returns the digest of a script.
func (s *Scripts) SHA(op Op) string { return s.shas[op] }

// Load returns the texts that admit's transaction loads.
func (s *Scripts) Load() []string { return s.texts[:] }

// clamp makes sixteen digits of a clock that has fewer or more: as strings, 1970 would
// come after today, and a release would let somebody's record expire.
const clamp = "string.format('%016.0f', math.min(now, 9000000000000000))"

// HelloText is the text of hello.
func HelloText() string { return strings.ReplaceAll(text("hello"), "@CLAMP@", clamp) }

// InspectText is the text of inspect.
func InspectText() string { return strings.ReplaceAll(text("inspect"), "@CLAMP@", clamp) }

// TrustText is the text of trust.
func TrustText() string { return text("trust") }

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

// quote makes s safe between the single quotes of a Lua string. A run id comes from
// the server, which may be hostile or ancient.
func quote(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\'' || c == '\\' || c < ' ' || c > '~':
			b.WriteString(`\` + pad3(c))
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

func pad3(c byte) string { return string([]byte{'0' + c/100, '0' + c/10%10, '0' + c%10}) }
