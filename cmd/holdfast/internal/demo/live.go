package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// ErrInterrupted means that the user pressed Ctrl-C.
var ErrInterrupted = errors.New("interrupted")

// onTerminal returns a view that shows a moving picture, with the story above it. While the picture is shown, the
// terminal sends no signal for Ctrl-C, so the view calls cancel. in is nil if there is no keyboard.
func onTerminal(out io.Writer, in io.Reader, cancel context.CancelCauseFunc, opts ...tea.ProgramOption) view {
	v := &liveView{out: out, done: make(chan struct{})}
	v.program = tea.NewProgram(picture{cancel: cancel},
		append(opts, tea.WithOutput(out), tea.WithInput(in), tea.WithoutSignalHandler())...)
	return v
}

type liveView struct {
	out     io.Writer
	program *tea.Program
	done    chan struct{} // closes when the picture has ended
}

func (v *liveView) line(text string) {
	select {
	case <-v.done: // the picture has ended, for example because the terminal is not usable
		fmt.Fprintln(v.out, text)
	default:
		v.program.Println(text)
	}
}

func (v *liveView) show(s *state) {
	go func() {
		defer close(v.done)
		if _, err := v.program.Run(); err != nil {
			fmt.Fprintln(v.out, "no live view:", err)
		}
	}()
	v.program.Send(s)
}

func (v *liveView) end() {
	v.program.Quit()
	<-v.done
}

// picture is the moving picture in the form that bubbletea needs.
type picture struct {
	cancel context.CancelCauseFunc
	state  *state
	now    snapshot
}

type tick struct{}

func (picture) Init() tea.Cmd { return next() }

func next() tea.Cmd { return tea.Tick(50*time.Millisecond, func(time.Time) tea.Msg { return tick{} }) }

// Update implements tea.Model.
func (p picture) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch m := msg.(type) {
	case *state:
		p.state = m
	case tick:
		if p.state != nil {
			p.now = p.state.snapshot()
		}
		return p, next()
	case tea.KeyPressMsg:
		if s := m.String(); s == "ctrl+c" || s == "q" {
			p.cancel(ErrInterrupted)
		}
	}
	return p, nil
}

var (
	good  = lipgloss.NewStyle().Foreground(lipgloss.Color("2"))
	bad   = lipgloss.NewStyle().Foreground(lipgloss.Color("1"))
	dim   = lipgloss.NewStyle().Faint(true)
	bold  = lipgloss.NewStyle().Bold(true)
	quiet = lipgloss.NewStyle().Foreground(lipgloss.Color("3"))
)

// View implements tea.Model.
func (p picture) View() tea.View { return tea.NewView(p.now.draw()) }

func (s snapshot) draw() string {
	if s.title == "" {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s  %s\n\n", bold.Render(s.title), dim.Render(fmt.Sprintf("%.1fs", s.at.Seconds())))
	for i, how := range s.nodes {
		style, mark := quiet, "◐"
		switch how {
		case "votes":
			style, mark = good, "●"
		case "killed":
			style, mark = bad, "○"
		}
		fmt.Fprintf(&b, "  node %d  %s\n", i+1, style.Render(mark+" "+how))
	}
	b.WriteString("\n  workers ")
	for i, how := range s.workers {
		switch how {
		case inside:
			b.WriteString(good.Render(fmt.Sprintf(" [%d]", i+1)))
		case "killed":
			b.WriteString(bad.Render(fmt.Sprintf("  %d✗", i+1)))
		case "frozen":
			b.WriteString(quiet.Render(fmt.Sprintf("  %d❄", i+1)))
		default:
			b.WriteString(dim.Render(fmt.Sprintf("  %d ", i+1)))
		}
	}
	holder := dim.Render("nobody")
	if s.holder >= 0 {
		holder = fmt.Sprintf("worker %d, token %d", s.holder+1, s.token)
	}
	fmt.Fprintf(&b, "\n  holder    %s\n  hand-offs %d, increments %d\n\n", holder, s.handOffs, s.increments)
	return b.String()
}
