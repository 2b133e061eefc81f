package demo

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

func TestTheDemoKeepsItsPromisesInHalfAMinute(t *testing.T) {
	t.Parallel()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	path := program(t)
	began, stalls := time.Now(), stalled(t.Context())
	err = perform(t.Context(), path, out, false)
	took, late := time.Since(began), stalls()
	text, _ := os.ReadFile(out.Name())
	t.Logf("%s\n%s", took, text)
	if err != nil {
		t.Fatal(err)
	}
	if took > 30*time.Second+late {
		t.Errorf("it took %s, and this process waited %s for a processor", took, late)
	}
	for _, want := range []string{
		`\d+ increments made, \d+ found: [1-9]\d* lost`, // the result of the half without a lock
		`node 2 killed`, `node 4 killed`, `node 2 votes again`, `worker \d killed while it held the lock`,
		`worker \d frozen`, `worker \d looked at its lease: lost`, `refused by the file: token`,
		`kept +increments +[1-9]\d* made`, `kept +one at a time +\d+ stays, 0 overlaps`, `kept +tokens`,
		`kept +killed holder`, `kept +frozen holder`, `kept +restarted nodes`, `waiting +\d+ hand-offs`, `Every promise was kept\.`,
	} {
		if !regexp.MustCompile(want).Match(text) {
			t.Errorf("no line like %q", want)
		}
	}
}

// stalled returns a function that ends the measurement and returns for how long this process waited for a processor.
func stalled(ctx context.Context) func() time.Duration {
	ctx, stop := context.WithCancel(ctx)
	sum := make(chan time.Duration)
	go func() {
		var late time.Duration
		for ctx.Err() == nil {
			const nap = 2 * time.Millisecond
			before := time.Now()
			time.Sleep(nap)
			late += max(time.Since(before)-2*nap, 0)
		}
		sum <- late
	}()
	return func() time.Duration { stop(); return <-sum }
}

// When the demo ends, for any reason, no process of it is left.
func TestNoProcessOutlivesTheDemo(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"interrupted": syscall.SIGINT, "killed": syscall.SIGKILL} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS != "linux" {
				t.Log("children are found in /proc")
				return
			}
			cmd := exec.Command(os.Args[0], "demo", program(t))
			// This directory gets the files that a killed demo leaves.
			cmd.Env = append(os.Environ(), "TMPDIR="+t.TempDir())
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Process.Kill()
			lines := bufio.NewScanner(out)
			for lines.Scan() && !strings.Contains(lines.Text(), "node 2 killed") {
			}
			children := childrenOf(cmd.Process.Pid)
			if most := workers + nodes; len(children) < most-2 || len(children) > most {
				t.Errorf("%d processes run, want %d less those that were just killed", len(children), most)
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, out)
			err = cmd.Wait()
			var exit *exec.ExitError
			if !errors.As(err, &exit) {
				t.Errorf("it ended with %v", err)
			}
			for _, pid := range children {
				redistest.Eventually(t, patience, "process "+strconv.Itoa(pid)+" is gone", func() bool { return !runs(pid) })
			}
		})
	}
}

func childrenOf(parent int) (list []int) {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		b, _ := os.ReadFile(path)
		fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
		if len(fields) > 1 && fields[1] == strconv.Itoa(parent) {
			pid, _ := strconv.Atoi(strings.Split(path, "/")[2])
			list = append(list, pid)
		}
	}
	return list
}

func runs(pid int) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(b), ") Z ")
}
