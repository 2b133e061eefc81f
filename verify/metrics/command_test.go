package check

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// holdfast returns a command of holdfast on the servers.
func (s *subject) holdfast(args ...string) *exec.Cmd {
	s.t.Helper()
	if s.binary == "" {
		s.binary = filepath.Join(s.t.TempDir(), "holdfast")
		build := exec.Command("go", "build", "-o", s.binary, "./cmd/holdfast")
		build.Dir = "../.."
		if said, err := build.CombinedOutput(); err != nil {
			s.t.Fatalf("%v\n%s", err, said)
		}
	}
	c := exec.Command(s.binary, args...)
	c.Env = append(os.Environ(), "HOLDFAST_NODES="+strings.Join(s.urls(), ","))
	return c
}

// command runs holdfast, and returns its output and exit code.
func (s *subject) command(args ...string) (out string, code int) {
	s.t.Helper()
	c := s.holdfast(args...)
	said, err := c.CombinedOutput()
	if c.ProcessState == nil {
		s.t.Fatal(err)
	}
	return string(said), c.ProcessState.ExitCode()
}

var servedAt = regexp.MustCompile(`metrics at http://(\S+)/metrics`)

// serves starts a command with --metrics-listen, and returns its host and port. It ends with the test.
func (s *subject) serves(args ...string) (target string) {
	s.t.Helper()
	c := s.holdfast(args...)
	stderr, err := c.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		s.t.Fatal(err)
	}
	found, ended := make(chan string, 1), make(chan struct{})
	go func() {
		defer close(ended)
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if at := servedAt.FindStringSubmatch(lines.Text()); at != nil {
				found <- at[1]
			}
		}
	}()
	s.t.Cleanup(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		<-ended
		_ = c.Wait()
	})
	limit := time.NewTimer(30 * time.Second)
	defer limit.Stop()
	select {
	case target = <-found:
	case <-ended:
		s.t.Fatalf("%s ended", strings.Join(args, " "))
	case <-limit.C:
		s.t.Fatalf("%s serves nothing", strings.Join(args, " "))
	}
	return target
}

// jobsFile returns a file of jobs.
func jobsFile(t *testing.T, lines ...string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "jobs")
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
