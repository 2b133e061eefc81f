package demo

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

func TestPictureShowsNodesWorkersAndHolder(t *testing.T) {
	t.Parallel()
	s := newState(time.Now(), func(string) {})
	s.begin("with the lock")
	s.node(0, "votes")
	s.node(1, "killed")
	s.node(2, "votes in 1.2s")
	s.worker(3, "frozen")
	s.handleLine(4, "in 1795170170190585")
	s.handleLine(4, "wrote")
	text := ansi.Strip(s.snapshot().draw())
	for _, want := range []string{
		"node 1  ● votes", "node 2  ○ killed", "node 3  ◐ votes in 1.2s", "4❄", "[5]", "worker 5, token 1795170170190585", "hand-offs 1, increments 1",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	s.handleLine(4, "out")
	if text := ansi.Strip(s.snapshot().draw()); !strings.Contains(text, "nobody") {
		t.Errorf("somebody holds it after out:\n%s", text)
	}
}

func TestKeysInterrupt(t *testing.T) {
	t.Parallel()
	var cause error
	p := picture{cancel: func(err error) { cause = err }}
	p.Update(tea.KeyPressMsg{Code: 'x', Text: "x"})
	if cause != nil {
		t.Errorf("x: %v", cause)
	}
	p.Update(tea.KeyPressMsg{Code: 'c', Mod: tea.ModCtrl})
	if !errors.Is(cause, ErrInterrupted) {
		t.Errorf("Ctrl-C: %v", cause)
	}
}

// screen receives the picture.
type screen struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *screen) has(text string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Contains(ansi.Strip(s.b.String()), text)
}

func TestLiveViewShowsStoryAndPictureAndEnds(t *testing.T) {
	t.Parallel()
	out := &screen{}
	_, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	keys, keyboard := io.Pipe()
	defer keyboard.Close()
	v := onTerminal(out, keys, cancel, tea.WithWindowSize(100, 40))
	s := newState(time.Now(), v.line)
	s.begin("with the lock")
	v.show(s)
	s.say("node 2 killed")
	redistest.Eventually(t, patience, "story and picture are there", func() bool { return out.has("node 2 killed") && out.has("holder") })
	v.end()
	v.line("after the end")
	if !out.has("after the end") {
		t.Error("a line after the end is lost")
	}
}
