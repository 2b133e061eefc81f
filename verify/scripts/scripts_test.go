package scripts

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

const folder = "../../internal/core/nodescript/lua"

var write = flag.Bool("scripts.write", false, "write the lines about variables into the headers of the parts")

// parts contains the files that replace a placeholder, with the placeholder.
func parts(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	files, err := filepath.Glob(folder + "/*.lua")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scripts in %s: %v", folder, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if placeholder := alone.FindStringSubmatch(line); placeholder != nil {
				name := strings.ToLower(placeholder[1])
				if name == "verdict" {
					name = "quarantine"
				}
				all[name] = placeholder[1]
			}
		}
	}
	all["force"] = "EACH" // see templates
	return all
}

var (
	alone = regexp.MustCompile(`^\s*@([A-Z]+)@$`)
	value = regexp.MustCompile(`@[A-Z0-9]+@`)
	said  = regexp.MustCompile(`(?m)^-- (Reads|Sets): .*\n(--   .*\n)*`)
)

// code returns the Lua code of a file, with values for the gaps.
func code(text string) string {
	var out []string
	for _, line := range strings.Split(text, "\n") {
		if alone.MatchString(line) {
			line = ""
		}
		line = strings.ReplaceAll(line, "@CLAMP@", "now")
		out = append(out, value.ReplaceAllString(line, "0"))
	}
	return strings.Join(out, "\n")
}

// listed returns the line of a header about variables, wrapped.
func listed(what string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	lines := []string{"-- " + what + ":"}
	for i, name := range names {
		if i < len(names)-1 {
			name += ","
		}
		last := &lines[len(lines)-1]
		if len(*last)+1+len(name) > 120 {
			lines = append(lines, "--  ")
			last = &lines[len(lines)-1]
		}
		*last += " " + name
	}
	return strings.Join(lines, "\n") + "\n"
}

// TestPartsSayWhichVariablesTheyUse compares the header of each part with its code.
func TestPartsSayWhichVariablesTheyUse(t *testing.T) {
	found := 0
	for part := range parts(t) {
		file := filepath.Join(folder, part+".lua")
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		v, err := connections(part, code(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		sets := append(v.declares, v.sets...)
		slices.Sort(sets)
		want := listed("Reads", v.reads) + listed("Sets", slices.Compact(sets))
		found++
		if got := strings.Join(said.FindAllString(string(text), -1), ""); got != want {
			if *write {
				rest := said.ReplaceAllString(string(text), "")
				first := slices.IndexFunc(strings.Split(rest, "\n"), func(line string) bool { return !strings.HasPrefix(line, "--") })
				lines := strings.SplitAfter(rest, "\n")
				rest = strings.Join(lines[:first], "") + want + strings.Join(lines[first:], "")
				if err := os.WriteFile(file, []byte(rest), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			t.Errorf("the header of %s.lua says\n%swant\n%sRun: go test ./verify/scripts -scripts.write", part, got, want)
		}
	}
	if found < 12 {
		t.Errorf("only %d parts were found", found)
	}
}

// whole returns the whole texts of all scripts, by name.
func whole() map[string]string {
	c := nodescript.Config{N: 3, Window: 250 * time.Millisecond, MaxTTL: 10 * time.Second}
	loaded := nodescript.NewScripts(c, "run")
	texts := map[string]string{
		"hello": nodescript.HelloText(), "inspect": nodescript.InspectText(), "peers": nodescript.PeersText(), "trust": nodescript.TrustText(),
		"admit": loaded.Admit,
	}
	for op, text := range loaded.Load() {
		op := nodescript.Op(op)
		texts[op.String()] = text
		if op.HandsOn() {
			texts["force "+op.String()] = nodescript.ForceText(c, op)
		}
	}
	return texts
}

// TestScriptsDeclareTheirVariables finds the variables that a whole script uses and does not declare: a part in a host
// that lacks one of the variables of its header. Redis refuses such a script only when it reaches that line.
func TestScriptsDeclareTheirVariables(t *testing.T) {
	for name, text := range whole() {
		v, err := connections(name, text)
		if err != nil {
			t.Errorf("%v", err)
		}
		if len(v.reads)+len(v.sets) > 0 {
			t.Errorf("%s uses %q and sets %q, and does not declare them", name, v.reads, v.sets)
		}
	}
}
