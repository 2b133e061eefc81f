package top

import (
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
	"github.com/holdfast-go/holdfast/internal/pty"
)

// screen is a pseudo-terminal with a reader.
type screen struct {
	t             *testing.T
	master, slave *os.File

	mu   sync.Mutex
	text strings.Builder
}

func newScreen(t *testing.T) *screen {
	t.Helper()
	master, slave := pty.Open(t)
	if err := unix.IoctlSetWinsize(int(master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100}); err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, master: master, slave: slave}
	go func() {
		b := make([]byte, 4096)
		for {
			n, err := master.Read(b)
			if err != nil {
				return
			}
			s.mu.Lock()
			s.text.Write(b[:n])
			s.mu.Unlock()
		}
	}()
	return s
}

// until waits until the terminal got a text after the last key.
func (s *screen) until(want string) {
	s.t.Helper()
	for end := time.Now().Add(30 * time.Second); ; {
		s.mu.Lock()
		text := s.text.String()
		s.mu.Unlock()
		if strings.Contains(text, want) {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("no %q in %q", want, text)
		}
		<-time.After(10 * time.Millisecond)
	}
}

func (s *screen) press(keys string) {
	s.t.Helper()
	s.mu.Lock()
	s.text.Reset()
	s.mu.Unlock()
	if _, err := s.master.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// settings returns the local modes of the terminal, such as echo.
func (s *screen) settings() uint32 {
	s.t.Helper()
	v, err := unix.IoctlGetTermios(int(s.slave.Fd()), unix.TCGETS)
	if err != nil {
		s.t.Fatal(err)
	}
	return v.Lflag
}

func TestTopOnATerminal(t *testing.T) {
	for what, end := range map[string]func(s *screen, stop func()){
		"q":        func(s *screen, _ func()) { s.press("q") },
		"Ctrl-C":   func(s *screen, _ func()) { s.press("\x03") },
		"a signal": func(_ *screen, stop func()) { stop() },
	} {
		t.Run(what, func(t *testing.T) {
			s := newScreen(t)
			before := s.settings()
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			waiters := 4711
			sampler := &sample.Sampler{Every: 50 * time.Millisecond, Read: func(context.Context) *sample.State {
				waiters++
				return busy(waiters).state
			}}
			ended := make(chan error, 1)
			go func() { ended <- Run(ctx, s.slave, s.slave, sampler) }()
			s.until("\x1b[?1049h") // the other screen
			s.until("web-2/2")
			s.press("/gam\r")
			s.until("filter gam")
			s.press("p")
			s.until("paused")
			if s.settings() == before {
				t.Error("the terminal still echoes keys")
			}
			end(s, stop)
			s.until("\x1b[?1049l")
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("Run returned %v", err)
				}
			case <-time.After(30 * time.Second):
				t.Fatal("Run does not end")
			}
			sampler.Wait()
			if s.settings() != before {
				t.Error("the terminal has other settings than before")
			}
		})
	}
}
