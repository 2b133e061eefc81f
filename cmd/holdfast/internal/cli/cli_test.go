package cli

import (
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// The test binary acts as holdfast if a script calls it by that name. It also does so if such a holdfast starts itself.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != "holdfast" {
		ignoreNoSignal()
	}
	testscript.Main(m, map[string]func(){
		"holdfast": func() {
			if node := os.Getenv("TEST_DEFAULT_NODE"); node != "" {
				defaultNode = node
			}
			defaultNodeTimeout, _ = time.ParseDuration(os.Getenv("TEST_NODE_TIMEOUT")) // 0 if it is not set
			if d, err := time.ParseDuration(os.Getenv("TEST_RETIRE_TIME")); err == nil {
				retireTime = d
			}
			os.Exit(Main())
		},
	})
}

// ignored are the signals that this process ignored at its start.
var ignored = slices.DeleteFunc([]os.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGHUP}, func(sig os.Signal) bool {
	return !signal.Ignored(sig)
})

// ignoreNoSignal makes programs start with the default actions of signals. A shell without job control starts
// background jobs with INT and QUIT ignored, and nohup ignores HUP. Programs that the scripts start would inherit this,
// and holdfast respects it.
func ignoreNoSignal() {
	for _, sig := range ignored {
		signal.Notify(make(chan os.Signal, 1), sig)
	}
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:   filepath.Join("testdata", "script"),
		Setup: setUp,
		Cmds:  commands,
	})
}

func TestNameAndCommandAreSplitAtTheDashes(t *testing.T) {
	for _, c := range []struct {
		args    []string
		dash    int
		name    string
		command string // the first word
	}{
		{[]string{"x", "ls", "-l"}, 1, "x", "ls"},
		{[]string{"x", "ls", "--", "y"}, 1, "x", "ls"},
		{[]string{"-x", "--", "ls"}, 0, "-x", "ls"},
		{[]string{"", "ls"}, 1, "", "ls"}, // the library refuses this name, with a reason
		{[]string{"x", "ls"}, -1, "", ""},
		{[]string{"x"}, -1, "", ""},
		{[]string{"x"}, 1, "", ""},
		{[]string{"x", "y", "ls"}, 2, "", ""},
		{[]string{"x"}, 0, "", ""},
		{nil, -1, "", ""},
		{nil, 0, "", ""},
	} {
		name, command, err := nameAndCommand(c.args, c.dash)
		if got := append(command, ""); name != c.name || got[0] != c.command || (err == nil) != (c.command != "") {
			t.Errorf("%q with -- at %d: %q, %q, %v", c.args, c.dash, name, command, err)
		}
		if err != nil && (asFailure(err).code != exitUsage || asFailure(err).hint == "") {
			t.Errorf("%q with -- at %d: %+v, want a usage error with a hint", c.args, c.dash, err)
		}
	}
}
