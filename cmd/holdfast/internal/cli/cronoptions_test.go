package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// oneJob reads a cron file with one job.
func oneJob(t *testing.T, file string) cronJob {
	t.Helper()
	jobs, err := parseCrontab("f", strings.NewReader(file), anyJob)
	if err != nil || len(jobs) != 1 {
		t.Fatalf("%q: %d jobs, %v", file, len(jobs), err)
	}
	return jobs[0]
}

func TestTheOptionsOfALine(t *testing.T) {
	t.Parallel()
	c := oneJob(t, "every 1h x [retries=3 backoff=90s history=7 dir=/srv env-file=/etc/x.env output=none] true\n")
	if c.spec.Retries != 3 || c.spec.Backoff != 90*time.Second || c.spec.History != 7 || c.dir != "/srv" || c.envFile != "/etc/x.env" || !c.noOutput {
		t.Errorf("the job is %+v", c)
	}
	if c := oneJob(t, "every 1h x [output=tail] true\n"); c.noOutput || c.spec.Retries != 0 || c.spec.History != 0 {
		t.Errorf("without options the job is %+v", c)
	}
	for text, want := range map[string]string{
		"every 1h x [retries=] true":                  `option retries is ""; want a whole number from 1 to 1000`,
		"every 1h x [retries=-1] true":                `option retries is "-1"`,
		"every 1h x [retries=1.5] true":               `option retries is "1.5"`,
		"every 1h x [history=0] true":                 `option history is "0"`,
		"every 1h x [backoff=1m] true":                "option backoff has no meaning without retries",
		"every 1h x [retries=2 backoff=0s] true":      `option backoff is "0s"; want a duration above 0`,
		"every 1h x [dir=~/x] true":                   `option dir is "~/x"; want a whole path`,
		"every 1h x [env-file=x.env] true":            `option env-file is "x.env"; want a whole path`,
		"every 1h x [output] true":                    `option output is ""; want tail or none`,
		"every 1h x [user] true":                      "option user has no value",
		"every 1h x [dir=/a dir=/b] true":             "option dir occurs twice",
		"every 1h x retries=3 true":                   "options stand in [brackets]",
		"ON_OVERDUE=mail\nevery 1h x true":            "ON_OVERDUE is no setting",
		"ON_FAILURE=\x00\nevery 1h x true":            "ON_FAILURE contains a NUL byte",
		"every 1h x [retries=99999999999999999] true": `option retries is "99999999999999999"`,
	} {
		if jobs, err := parseCrontab("f", strings.NewReader(text+"\n"), anyJob); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %d jobs, %v; want %q", text, len(jobs), err, want)
		}
	}
}

// ON_FAILURE is no variable of the commands. It is about the jobs below it, until it is set again.
func TestAHookIsAboutTheJobsBelowIt(t *testing.T) {
	t.Parallel()
	jobs, err := parseCrontab("f", strings.NewReader("every 1h a true\nON_FAILURE='mail me'\nX=1\nevery 1h b true\nON_FAILURE=\nevery 1h c true\n"), anyJob)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"", "mail me", ""} {
		if jobs[i].onFailure != want || slices.ContainsFunc(jobs[i].env, func(kv string) bool { return strings.HasPrefix(kv, "ON_") }) {
			t.Errorf("job %s has the hook %q and the variables %q", jobs[i].spec.Name, jobs[i].onFailure, jobs[i].env)
		}
	}
	if jobs[0].same(jobs[1]) || oneJob(t, "every 1h a true\n").same(oneJob(t, "ON_FAILURE=x\nevery 1h a true\n")) {
		t.Error("a reload does not find a changed hook")
	}
}

// Quotes around the whole command are no part of it. Those of its first and its last word are.
func TestAHookKeepsTheQuotesOfItsWords(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		`'mail me'`: `mail me`, `"a 'b' c"`: `a 'b' c`, `"say \"x\" now"`: `say \"x\" now`, `'`: `'`, `""`: ``, `'a' b`: `'a' b`,
		`"/my alerts/notify" "$HOLDFAST_NAME"`: `"/my alerts/notify" "$HOLDFAST_NAME"`, `'a b' c 'd'`: `'a b' c 'd'`,
	} {
		if c := oneJob(t, "ON_FAILURE="+line+"\nevery 1h a true\n"); c.onFailure != want {
			t.Errorf("of %s the command is %s, want %s", line, c.onFailure, want)
		}
	}
}

// A file of variables has the form of the settings. Its errors name the line, and not its text.
func TestAFileOfVariables(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "env")
	for text, want := range map[string]string{
		"":                                       "",
		"A=1\n# x\n\n  export B = 'two words'\n": "A=1|B=two words",
		"A=\"\"\nC=a=b":                          "A=|C=a=b",
		"A=1\nhunter2\n":                         "line 2: want NAME=value",
		"A=1\nB=hun\x00ter2\n":                   "line 2: a NUL byte",
		"HOLDFAST_FENCE=1\n":                     "line 1: HOLDFAST_FENCE cannot be set",
		strings.Repeat("A=hunter2\n", 20_000):    "at most 131072 are allowed",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		env, err := readEnvFile(file)
		if got := strings.Join(env, "|"); err == nil && got != want || err != nil && (!strings.Contains(err.Error(), want) || want == "") {
			t.Errorf("%.40q: %q, %v; want %q", text, got, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("the error has a secret: %v", err)
		}
	}
	if _, err := readEnvFile(t.TempDir()); err == nil {
		t.Error("a folder is accepted")
	}
}

// A machine that lacks the only program of a command cannot run it. Whatever only a shell can judge counts as there.
func TestAProgramIsLookedFor(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"tool": 0o755, "data": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"), mode); err != nil {
			t.Fatal(err)
		}
	}
	for line, found := range map[string]bool{
		"tool --all 'a b'": true, "./tool": true, dir + "/tool x": true, "tool >out 2>/dev/null": true,
		"no-such-tool": false, "./no-such-tool -x": false, dir + "/no-such-tool": false, "./data": false, "data": false, "no-such-tool <in >out": false,
		"no-such-tool || true": true, "no-such-tool; true": true, "X=1 no-such-tool": true, "$TOOL": true, "no-such-tool $(date)": true,
		"cd /": true, "exit 3": true, ". ./tool": true, "umask 077": true, "if true": true,
	} {
		c := oneJob(t, "PATH="+dir+":/usr/bin:/bin\nevery 1h x [dir="+dir+"] "+line+"\n")
		if _, err := c.host(t.Context()); (err == nil) != found {
			t.Errorf("%q: %v, want that it is found: %t", line, err, found)
		}
	}
	c := oneJob(t, "SHELL=/usr/bin/env\nevery 1h x no-such-tool\n")
	if _, err := c.host(t.Context()); err != nil {
		t.Errorf("a shell that is none: %v", err)
	}
	// zsh reads files before each command, and they may change PATH.
	zsh := filepath.Join(dir, "zsh")
	if err := os.WriteFile(zsh, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for line, found := range map[string]bool{"no-such-tool": true, "/no-such-tool": false} {
		c := oneJob(t, "SHELL="+zsh+"\nevery 1h x "+line+"\n")
		if _, err := c.host(t.Context()); (err == nil) != found {
			t.Errorf("%q by zsh: %v, want that it is found: %t", line, err, found)
		}
	}
}

func FuzzEnvFile(f *testing.F) {
	f.Add("A=1\n# x\nexport B='2'\n")
	f.Add("=\n'=\"\n")
	file := filepath.Join(f.TempDir(), "env")
	f.Fuzz(func(t *testing.T, text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		env, err := readEnvFile(file)
		for _, kv := range env {
			if name, _, ok := strings.Cut(kv, "="); err == nil && (!ok || name == "" || strings.ContainsAny(kv, "\n\x00")) {
				t.Errorf("%q is a variable", kv)
			}
		}
	})
}
