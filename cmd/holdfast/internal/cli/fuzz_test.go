package cli

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/holdfast-go/holdfast"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast/internal/core/async"
)

// harmless returns a holdfast that stops before a command does anything. It reads arguments, flags and settings, and
// makes a client, which does not use the network.
func harmless(t *testing.T) (a *app, root *cobra.Command, out *bytes.Buffer) {
	out = &bytes.Buffer{}
	a = &app{talker: newTalker(out)}
	root = a.root()
	root.SetOut(out)
	root.SetErr(out)
	var disarm func(c *cobra.Command)
	disarm = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			disarm(sub)
		}
		switch c.Name() {
		case "run", "lead", "leader", "cron", "jobs", "pause", "resume", "remove", "status", "nodes", "trust", "bench", "dev", "demo":
			c.RunE = func(cmd *cobra.Command, args []string) error {
				if (cmd.Name() == "run" || cmd.Name() == "lead") && !cmd.Parent().HasParent() {
					split := nameAndCommand
					if cmd.Name() == "lead" {
						split = leadArguments
					}
					name, command, err := split(args, cmd.ArgsLenAtDash())
					if err != nil {
						return err
					}
					if len(command) == 0 {
						t.Errorf("%q: a name %q, and no command", args, name)
					}
				}
				client, err := a.settings.open(a.talker, nil)
				if err == nil {
					err = client.Close()
				}
				return err
			}
		}
	}
	disarm(root)
	return a, root, out
}

// refusedArguments runs the arguments and returns the refusal, or nil. It also checks the text of the refusal.
func refusedArguments(t *testing.T, args []string) *failure {
	a, root, out := harmless(t)
	a.args = args
	root.SetArgs(args)
	err := root.Execute()
	if err == nil {
		return nil
	}
	f := asFailure(err)
	if slices.ContainsFunc(args, func(a string) bool { return a == "completion" || strings.HasPrefix(a, "__complete") }) {
		return f // an error of cobra, without a code of Holdfast
	}
	if f.code != exitUsage || strings.TrimSpace(f.Error()) == "" {
		t.Errorf("%q: exit code %d with %q; want a usage error", args, f.code, f.Error())
	}
	a.lines.Wait(async.Forever)
	out.Reset()
	a.fail(f)
	a.lines.Wait(async.Forever)
	for line := range strings.Lines(out.String()) {
		if !strings.HasPrefix(line, "holdfast: ") {
			t.Errorf("%q: says %q; want every line to begin with holdfast:", args, line)
		}
	}
	return f
}

func FuzzArguments(f *testing.F) {
	for _, line := range []string{
		"", "run", "run|x", "run|x|--|ls", "run|--|ls", "run|--|-x|--|ls", "run|x|ls|-l", "run|--ttl=x|x|--|ls", "run|x|y|--|ls", "jobs", "jobs|x|y", "jobs|run", "jobs|run|x|--no-wait", "jobs|--|run", "jobs|pause|x|--note=y", "jobs|resume|--wait=x|y", "jobs|remove", "lead", "lead|x", "lead|x|ls", "lead|x|y|--|ls", "lead|--|-x|--|ls", "leader", "leader|x|y", "leader|--json|x", "status", "status|x|y", "status|--json|x", "nodes|trust|-y",
		"nodes|x", "help|x", "help|run", "exit-codes", "--version", "--nodes|redis://a,redis://b:x|nodes", "--max-ttl=1ns|nodes", "--max-ttl|-5s|nodes", "--window=0|nodes", "bench|--waiters|x",
		"dev|-n|99999999999999999999", "demo|--plain=x", "completion|bash", "__complete|run|", "rum", "-", "--", "---", "-vvv", "--no-such", "--nodes", "status|\x00", "status|\xff", "--cluster|\n|nodes", "-h|run", "--nodes=unix:///|nodes",
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		var args []string
		if line != "" {
			args = strings.Split(line, "|")
		}
		refusedArguments(t, args)
	})
}

// The refusal of a bad value names its flag and shows the value.
func FuzzFlagValues(f *testing.F) {
	flags := []string{"max-ttl", "window", "node-timeout", "durable", "ttl", "wait", "at-least", "grace", "skip-ok"}
	for i := range flags {
		for _, v := range []string{"", "x", "0", "1", "-1", "10s", "-1s", "1e9s", "9223372036854775807ns", "9223372036854775808ns", "99999999h", "true", "\"", "\x00", "\xff", " 5s", "5s ", "1h\n", "∞", "%s", ".5s", "NaN"} {
			f.Add(uint8(i), v)
		}
	}
	f.Fuzz(func(t *testing.T, i uint8, value string) {
		flag := "--" + flags[int(i)%len(flags)]
		refused := refusedArguments(t, []string{"run", flag + "=" + value, "x", "--", "ls"})
		if refused == nil {
			return
		}
		said := refused.Error()
		shown := quoted(value)
		if d, err := time.ParseDuration(value); err == nil && !strings.Contains(said, shown) {
			shown = d.String() // the size is wrong, not the form
		}
		if !strings.Contains(said, flag) || !strings.Contains(said, shown) {
			t.Errorf("%s=%q: %q; want the flag and the value", flag, value, said)
		}
	})
}

// Any text in --nodes leads to a client, or to an error that names the URL. It never causes a panic.
func FuzzNodes(f *testing.F) {
	for _, s := range []string{"", ",", "redis://a", "redis://a,redis://a", "redis://a redis://b", "redis://a,,redis://b\n", "x", "redis://u:p@h:1,x", "unix:///a?db=1", "redis://[::1]:5", "\x00"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, nodes string) {
		var s settings
		if err := s.nodes.Set(nodes); err != nil {
			if strings.Trim(nodes, ", \t\r\n") != "" && err != errEmptyURL {
				t.Errorf("%q: %v; want that only a list without URLs, or with an empty one, is refused here", nodes, err)
			}
			return
		}
		client, err := s.open(newTalker(&bytes.Buffer{}), nil)
		if err == nil {
			if err := client.Close(); err != nil {
				t.Errorf("%q: Close: %v", nodes, err)
			}
			return
		}
		var refused *failure
		if !errors.As(err, &refused) || refused.code != exitUsage || !strings.Contains(err.Error(), "--nodes") {
			t.Errorf("%q: %v; want a usage error that names --nodes", nodes, err)
		}
		if utf8.ValidString(nodes) && !utf8.ValidString(err.Error()) {
			t.Errorf("%q: the error is not printable: %q", nodes, err)
		}
	})
}

// No piece of a password is printed, even if the password contains a comma, a space or any other character.
func FuzzNodesPassword(f *testing.F) {
	for _, s := range []string{"", "1,", "1/", "1?", ",", " ", ":", "1,a://", "1#", "redis://", "unix:///", "1,redis://h/", "1\n"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		const pw = "S3CRET"
		if strings.Contains(before+after, "@") || strings.Contains(before+after, pw) {
			return // such a password must be percent-encoded: see the driver's FuzzURL
		}
		t.Setenv("HOLDFAST_NODES", "redis://u:"+strings.ReplaceAll(before+pw+after, "\x00", "")+"@h:6379,redis://b")
		var a settings
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		a.register(flags)
		err := a.environ(flags)
		if err == nil {
			var client *holdfast.Client
			if client, err = a.open(newTalker(&bytes.Buffer{}), nil); err == nil {
				_ = client.Close()
			}
		}
		var refused *failure
		if errors.As(err, &refused) && strings.Contains(err.Error()+refused.hint, pw) {
			t.Errorf("%q, %q: %v", before, after, err)
		}
	})
}
