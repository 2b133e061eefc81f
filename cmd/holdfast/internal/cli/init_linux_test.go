package cli

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// inContainer returns holdfast as the first process of new namespaces, or outside of any if contained is false.
func inContainer(t *testing.T, contained bool, nodes string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "holdfast") // the name makes the test binary holdfast: see TestMain
	if err := os.Symlink(self, program); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", append([]string{"-c", `[ "$0" = no ] || mount -t proc proc /proc || exit 99; exec "$@"`, "no", program}, args...)...)
	if contained {
		cmd.Args[3] = "yes"
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS}
		if os.Getuid() != 0 {
			cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
			cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Getuid(), Size: 1}}
			cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getgid(), Size: 1}}
		}
		cmd.SysProcAttr.Unshareflags = syscall.CLONE_NEWNS // makes the mounts private
	}
	cmd.Env = append(os.Environ(), "HOLDFAST_NODES="+nodes, "HOLDFAST_MAX_TTL=4s", "TEST_NODE_TIMEOUT=1s")
	cmd.Stderr = os.Stderr
	return cmd
}

// As the first process of a container, holdfast reaps orphans, and passes signals and the exit code on.
func TestTheFirstProcessOfAContainerIsAnInit(t *testing.T) {
	t.Parallel()
	nodes := redistest.Start(t).URL()
	if err := inContainer(t, false, nodes, "nodes", "trust", "--yes", "--quiet").Run(); err != nil {
		t.Fatal(err)
	}
	t.Run("orphans", func(t *testing.T) {
		t.Parallel()
		cmd := inContainer(t, true, nodes, "run", "a", "--", "sh", "-c", `
			for i in $(seq 20); do (sleep 0.1 &); done
			sleep 0.5 # without an init, 20 zombies stay
			for i in $(seq 200); do
				n=$(cat /proc/[0-9]*/stat 2>/dev/null | grep -c ') Z ')
				[ "$n" = 0 ] && break
				sleep 0.1
			done
			echo "$n zombies"
			exit 7`)
		out, err := cmd.Output()
		if cmd.ProcessState.ExitCode() != 7 || string(out) != "0 zombies\n" {
			t.Errorf("it says %q and ends with %v; want no zombie and exit code 7", out, err)
		}
	})
	for name, does := range map[string]string{"handled": `trap "exit 9" TERM`, "fatal": ":"} {
		t.Run("signal "+name, func(t *testing.T) {
			t.Parallel()
			code := func(contained bool) int {
				cmd := inContainer(t, contained, nodes, "run", "sig-"+name, "--", "sh", "-c", does+`; echo up; while :; do sleep 0.1; done`)
				out, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				defer func() { _ = cmd.Process.Kill() }()
				lines := bufio.NewReader(out)
				if line, err := lines.ReadString('\n'); strings.TrimSpace(line) != "up" {
					t.Fatalf("%q, %v", line, err)
				}
				if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
					t.Fatal(err)
				}
				_, _ = io.Copy(io.Discard, lines)
				_ = cmd.Wait()
				if s := cmd.ProcessState.Sys().(syscall.WaitStatus); s.Signaled() { // a first process cannot die of a signal
					return 128 + int(s.Signal())
				}
				return cmd.ProcessState.ExitCode()
			}
			if outside, inside := code(false), code(true); inside != outside {
				t.Errorf("TERM ends it with %d as the first process, and with %d otherwise", inside, outside)
			}
		})
	}
}
