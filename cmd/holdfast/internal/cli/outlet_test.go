package cli

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// The output of commands stops, as after Ctrl-S on a terminal. Each command goes on, and leaves no file and no
// goroutine behind. When the output flows again, it says how many lines are missing, and where.
func TestACommandGoesOnWhileNobodyReadsItsOutput(t *testing.T) {
	const runs, lines = 20, 1000
	out, lost := &notRead{goOn: make(chan struct{})}, 0
	to := &outlet{to: out, lost: func() { lost++ }}
	for range runs {
		said := labelled{name: "loud"}
		w, err := said.pipe(to)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			defer said.wait.Wait() // until the pipe is closed at both ends
			defer w.Close()
			for i := range lines {
				fmt.Fprintln(w, i)
			}
		}()
		expectClosed(t, done)
	}
	if lost != 1 {
		t.Errorf("%d reports that lines are left out, want one", lost)
	}
	close(out.goOn)
	to.finish()
	got := strings.SplitAfter(strings.TrimSuffix(out.said.String(), "\n"), "\n")
	if len(got) != mostLines+1 || got[0] != "loud: 0\n" || got[mostLines-1] != fmt.Sprintf("loud: %d\n", mostLines-1) {
		t.Fatalf("%d lines, the first %q", len(got), got[0])
	}
	if want := fmt.Sprintf("holdfast: %d lines of jobs left out here: nobody read them", runs*lines-mostLines); got[mostLines] != want {
		t.Errorf("the end is %q, want %q", got[mostLines], want)
	}
}

// slow takes a tenth of a second for each line.
type slow struct{ bytes.Buffer }

func (s *slow) Write(p []byte) (int, error) {
	time.Sleep(100 * time.Millisecond)
	return s.Buffer.Write(p)
}

func TestASlowReaderMissesNoLineOfACommand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &slow{}
		to := &outlet{to: out, lost: func() { t.Error("lines are left out") }}
		var want strings.Builder
		for i := range 3 * mostLines {
			line := fmt.Sprintln(i)
			want.WriteString(line)
			to.put([]byte(line))
		}
		to.queue.Wait(time.Hour)
		if out.String() != want.String() {
			t.Errorf("%d bytes were written, want %d", out.Len(), want.Len())
		}
	})
}

// After a stop the outlet waits for its reader again, and does not leave out the lines that follow.
func TestAReaderThatComesBackMissesNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &notRead{goOn: make(chan struct{})}
		to := &outlet{to: out, lost: func() {}}
		long := bytes.Repeat([]byte("x"), longestLine)
		for range 10 { // the limit in bytes, not the one in lines
			to.put(append(long[:len(long):len(long)], '\n'))
		}
		if n := to.lines; n != mostBytes/longestLine-1 {
			t.Errorf("%d long lines wait", n)
		}
		close(out.goOn)
		synctest.Wait()
		for range 2 * mostLines {
			to.put([]byte("late\n"))
		}
		to.queue.Wait(time.Hour)
		text := out.said.String()
		if strings.Count(text, "left out here") != 1 || strings.Count(text, "late") != 2*mostLines {
			t.Errorf("%d reports of gaps, %d lines after the gap", strings.Count(text, "left out here"), strings.Count(text, "late"))
		}
	})
}
