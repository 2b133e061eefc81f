package interop

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// runners run the programs of docs/guide/languages.md, by the language of their code block.
var runners = map[string][]string{
	"python": {"hold.py", "python3"}, "js": {"hold.js", "node"}, "java": {"Lock.java", "java"}, "ruby": {"hold.rb", "ruby"}, "bash": {"hold.sh", "bash"},
}

// The programs of the guide hold a lock, give it back, and notice that it is taken away.
func TestProgramsInOtherLanguagesHoldALock(t *testing.T) {
	guide, err := os.ReadFile("../../docs/guide/languages.md")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(bin, "holdfast"), "../../cmd/holdfast").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	blocks := regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$").FindAllStringSubmatch(string(guide), -1)
	if len(blocks) != len(runners) {
		t.Errorf("the guide has %d programs, want %d", len(blocks), len(runners))
	}
	for _, b := range blocks {
		t.Run(b[1], func(t *testing.T) {
			server := redistest.Start(t)
			environment := append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOLDFAST_NODES="+server.URL(), "HOLDFAST_MAX_TTL=2s")
			file := filepath.Join(t.TempDir(), runners[b[1]][0])
			if err := os.WriteFile(file, []byte(b[2]), 0o600); err != nil {
				t.Fatal(err)
			}
			holdfast := func(args ...string) string {
				c := exec.Command(filepath.Join(bin, "holdfast"), args...)
				c.Env = environment
				out, _ := c.CombinedOutput()
				return string(out)
			}
			holdfast("nodes", "trust", "--yes")
			// runs starts the program, and returns its output after the line "holding".
			runs := func(steps string, meanwhile func()) string {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				c := exec.CommandContext(ctx, runners[b[1]][1], file, steps)
				c.Env, c.Stderr = environment, os.Stderr
				pipe, err := c.StdoutPipe()
				if err == nil {
					err = c.Start()
				}
				if err != nil {
					t.Fatalf("%v; run make interop-deps", err)
				}
				out := bufio.NewScanner(pipe)
				if !out.Scan() || !strings.HasPrefix(out.Text(), "holding") || !strings.ContainsAny(out.Text(), "0123456789") {
					t.Fatalf("its first line is %q", out.Text())
				}
				if said := holdfast("status", "report"); !strings.Contains(said, "held by") {
					t.Errorf("it says that it holds the lock, and status says %q", said)
				}
				meanwhile()
				out.Scan()
				said := out.Text()
				if err := c.Wait(); err != nil && said == "done" {
					t.Errorf("it ended with %v", err)
				}
				return said
			}
			if said := runs("150", func() {}); said != "done" { // three renewals
				t.Errorf("it says %q, want done", said)
			}
			if said := holdfast("run", "--wait", "0", "report", "--", "echo", "free"); !strings.Contains(said, "free") {
				t.Errorf("the lock is not free: %q", said)
			}
			if said := runs("100000", func() { holdfast("unlock", "report", "--force", "--yes") }); said != "lost" {
				t.Errorf("the lock was taken away, and it says %q", said)
			}
			if said := runs("100000", func() { server.Freeze() }); said != "lost" {
				t.Errorf("the node is frozen, and it says %q", said)
			}
		})
	}
}
