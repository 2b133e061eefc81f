package top

import (
	"context"
	"fmt"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
	"github.com/holdfast-go/holdfast/internal/core/printable"
)

// Run shows readings until the user ends the view or ctx ends.
func Run(ctx context.Context, in io.Reader, out io.Writer, s *sample.Sampler) error {
	watching, stop := context.WithCancel(ctx)
	defer stop()
	w := s.Watch(watching)
	// The command handles signals itself, as ctx. The end of ctx quits the program. The option WithContext would kill
	// the program instead. Then the goroutine that reads the input would still run while the program closes the input.
	p := tea.NewProgram(model{by: byWaiters, width: 80, height: 24}, tea.WithInput(in), tea.WithOutput(out), tea.WithoutSignalHandler())
	defer context.AfterFunc(ctx, p.Quit)()
	go func() {
		for {
			state, err := w.Next(watching)
			if err != nil {
				return
			}
			p.Send(reading{state, time.Now()})
		}
	}()
	_, err := p.Run()
	if ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the terminal cannot show a live view: %w", err)
	}
	return nil
}

// reading is a message with a reading.
type reading struct {
	state *sample.State
	came  time.Time
}

// model is the view as a model for bubbletea.
type model struct {
	width, height int

	last    reading // the one that is shown
	held    reading // the latest one, which the end of a pause shows
	history []float64

	by      column
	reverse bool
	waiting bool // only names with waiters
	paused  bool
	help    bool
	filter  string
	typing  bool // keys go to the filter
	from    int  // first row that is shown
}

// mostHistory is the number of rates in the small chart.
const mostHistory = 60

// second is a message that comes once a second, so that the ages grow while no reading comes.
type second struct{}

func nextSecond() tea.Cmd { return tea.Tick(time.Second, func(time.Time) tea.Msg { return second{} }) }

// Init implements tea.Model.
func (model) Init() tea.Cmd { return nextSecond() }

// Update implements tea.Model.
func (m model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case reading:
		m.held = msg
		if !msg.state.Early {
			m.history = append(m.history[max(0, len(m.history)-mostHistory+1):], msg.state.Point.HandOffs)
		}
		if !m.paused {
			m.last = msg
		}
	case second:
		return m, nextSecond()
	case tea.PasteMsg:
		if m.typing {
			m.filter += printable.Quoted(msg.Content)
		}
	case tea.KeyPressMsg:
		if msg.String() == "ctrl+c" {
			return m, tea.Quit
		}
		if m.typing {
			return m.typed(msg), nil
		}
		return m.pressed(msg.String())
	}
	return m, nil
}

// typed handles a key while the filter is being typed.
func (m model) typed(key tea.KeyPressMsg) model {
	switch key.String() {
	case "enter":
		m.typing = false
	case "esc":
		m.typing, m.filter = false, ""
	case "backspace":
		if r := []rune(m.filter); len(r) > 0 {
			m.filter = string(r[:len(r)-1])
		}
	case "ctrl+u":
		m.filter = ""
	default:
		m.filter += key.Text
	}
	m.from = 0
	return m
}

// pressed handles a key.
func (m model) pressed(key string) (tea.Model, tea.Cmd) {
	rows := m.rows()
	switch key {
	case "q":
		return m, tea.Quit
	case "p", "space":
		if m.paused = !m.paused && m.last.state != nil; !m.paused {
			m.last = m.held
		}
	case "s", "right", ">":
		m.by, m.reverse = (m.by+1)%columns, false
	case "S", "left", "<":
		m.by, m.reverse = (m.by+columns-1)%columns, false
	case "r":
		m.reverse = !m.reverse
	case "w":
		m.waiting, m.from = !m.waiting, 0
	case "/":
		m.typing = true
	case "esc":
		m.filter, m.help, m.from = "", false, 0
	case "?", "h":
		m.help = !m.help
	case "down", "j":
		m.from++
	case "up", "k":
		m.from--
	case "pgdown":
		m.from += rows
	case "pgup":
		m.from -= rows
	case "home", "g":
		m.from = 0
	case "end", "G":
		m.from = len(m.names())
	}
	m.from = max(0, min(m.from, len(m.names())-rows))
	return m, nil
}

// View implements tea.Model.
func (m model) View() tea.View {
	v := tea.NewView(m.draw())
	v.AltScreen = true
	v.WindowTitle = "holdfast top"
	return v
}
