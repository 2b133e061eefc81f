package cli

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holdfast-go/holdfast/internal/core/async"
)

// fullPipe returns a pipe that is full.
func fullPipe(ts *testscript.TestScript) (r, w *os.File) {
	var fds [2]int
	syscall.ForkLock.RLock()
	err := syscall.Pipe(fds[:])
	if err == nil {
		syscall.CloseOnExec(fds[0])
		syscall.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	ts.Check(err)
	ts.Check(syscall.SetNonblock(fds[1], true))
	for size := 4096; size > 0; {
		switch _, err := syscall.Write(fds[1], bytes.Repeat([]byte("-\n"), size)[:size]); {
		case errors.Is(err, syscall.EAGAIN):
			size /= 2
		case !errors.Is(err, syscall.EINTR):
			ts.Check(err)
		}
	}
	ts.Check(syscall.SetNonblock(fds[1], false)) // a writer must wait
	return os.NewFile(uintptr(fds[0]), "unread"), os.NewFile(uintptr(fds[1]), "full")
}

func readCommand(ts *testscript.TestScript, neg bool, args []string) {
	need(ts, neg, len(args) == 1 && of(ts).unread[args[0]] != nil, "read ID")
	r := of(ts).unread[args[0]]
	delete(of(ts).unread, args[0])
	to, err := os.Create(ts.MkAbs(args[0] + ".err"))
	ts.Check(err)
	go func() {
		defer to.Close()
		defer r.Close()
		_, _ = io.Copy(to, r)
	}()
}

// notRead blocks each writer until goOn is closed.
type notRead struct {
	goOn chan struct{}
	said bytes.Buffer
}

func (n *notRead) Write(p []byte) (int, error) {
	<-n.goOn
	return n.said.Write(p)
}

// Messages without a reader must not delay holdfast. testdata/script/unread.txtar tests the same for whole runs.
func TestNothingThatIsSaidWaitsForItsReaders(t *testing.T) {
	defer ignoreNoSignal() // finish resets the signals of this process
	out := &notRead{goOn: make(chan struct{})}
	talk := newTalker(out)
	done := make(chan struct{})
	go func() {
		defer close(done)
		// If holdfast waited for each of these lines to be read, the loop would take a minute.
		for range async.Room + 11 {
			talk.say("said")
		}
		talk.hold()
		talk.logger().Warn("kept")
		talk.resume()
		talk.finish(exitSignal+int(syscall.SIGTERM), nil) // a run that a signal ended must end
	}()
	expectClosed(t, done)
	close(out.goOn)
	talk.lines.Wait(async.Forever)
	said := strings.SplitAfter(out.said.String(), "\n")
	if len(said) != async.Room+3 || said[0] != "holdfast: said\n" {
		t.Fatalf("%d lines, the first %q", len(said), said[0])
	}
	if got := said[async.Room+1]; got != "holdfast: 11 messages left out here: nobody read them\n" {
		t.Errorf("the end is %q", got)
	}
}

func expectClosed(t *testing.T, done <-chan struct{}) {
	t.Helper()
	select {
	case <-done:
	case <-time.After(patienceInTests):
		t.Fatal("it waits for its readers")
	}
}
