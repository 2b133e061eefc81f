package top

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
	"github.com/holdfast-go/holdfast/internal/core/printable"
)

var (
	good   = lipgloss.NewStyle().Foreground(lipgloss.Color("2"))
	bad    = lipgloss.NewStyle().Foreground(lipgloss.Color("1"))
	warn   = lipgloss.NewStyle().Foreground(lipgloss.Color("3"))
	dim    = lipgloss.NewStyle().Faint(true)
	bold   = lipgloss.NewStyle().Bold(true)
	header = lipgloss.NewStyle().Reverse(true)
)

// now returns the time by the nodes' clocks, in ms. A pause stops it.
func (m model) now() int64 {
	if m.paused {
		return m.last.state.At
	}
	return m.last.state.At + time.Since(m.last.came).Milliseconds()
}

// draw returns the picture: the sums, the nodes, the names, and the keys.
func (m model) draw() string {
	if m.last.state == nil {
		return "waiting for nodes: nothing is known yet   q ends"
	}
	if m.help {
		return m.cut(strings.Split(keys, "\n"))
	}
	lines := append(m.top(), m.table()...)
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	return m.cut(append(lines[:max(0, m.height-1)], m.foot()))
}

const keys = `holdfast top

  s > right   sort by the next column      S < left   by the one before
  r           reverse the order            /          filter by name or holder
  w           only names with waiters      esc        clear the filter
  p space     pause                        ? h        these keys
  up down     scroll: j k, pgup pgdown, home end
  q ctrl-c    end`

// cut limits the picture to the terminal.
func (m model) cut(lines []string) string {
	lines = lines[:min(len(lines), max(1, m.height))]
	for i := range lines {
		lines[i] = ansi.Truncate(lines[i], m.width, "…")
	}
	return strings.Join(lines, "\n")
}

func nodesVote(nodes []sample.Node) string {
	what := "node"
	if len(nodes) > 0 && nodes[0].Master != "" {
		what = "shard"
	}
	if len(nodes) == 1 {
		return "1 " + what + " votes"
	}
	return fmt.Sprintf("%d %ss vote", len(nodes), what)
}

// top returns the sums, the nodes and the jobs.
func (m model) top() []string {
	s := m.last.state
	votes := good
	if s.Point.Voting < len(s.Nodes) {
		votes = warn
	}
	if s.Point.Voting < s.Quorum {
		votes = bad
	}
	said := votes.Render(fmt.Sprintf("%d of %s", s.Point.Voting, nodesVote(s.Nodes)))
	if waiting(s) {
		said = warn.Render("waiting for nodes")
	}
	lines := append([]string{fmt.Sprintf("%s  %s  %s", bold.Render("holdfast top"), said, m.age()), m.sums()}, problems(s)...)
	lines = append(lines, "", dim.Render(nodeLine("NODE", "CLOCK", "ROUND TRIP", "STATE")))
	for _, n := range s.Nodes[:min(len(s.Nodes), m.nodeRows())] {
		lines = append(lines, node(n))
	}
	if hidden := len(s.Nodes) - m.nodeRows(); hidden > 0 {
		lines = append(lines, dim.Render("  and "+printable.Count(hidden, "more node")))
	}
	return append(append(lines, m.jobs()...), "")
}

// waiting reports whether a node has not answered since the start.
func waiting(s *sample.State) bool {
	return slices.ContainsFunc(s.Nodes, func(n sample.Node) bool { return n.Said == sample.NoAnswerYet })
}

// fresh is the age in ms up to which a reading counts as new.
const fresh = 3000

// age says how old the picture is.
func (m model) age() string {
	s := m.last.state
	if old := m.now() - s.At; old > fresh && !m.paused {
		return warn.Render("as of " + span(old) + " ago")
	}
	text := "at " + time.UnixMilli(s.At).Format(time.TimeOnly)
	if s.Took > 0 {
		text += fmt.Sprintf(", read in %.0f ms", s.Took)
	}
	return dim.Render(text)
}

// sums returns the line of sums. Without a list of names there are none.
func (m model) sums() string {
	s, p := m.last.state, m.last.state.Point
	switch {
	case s.NamesAt == 0:
		return warn.Render("names, holders and waiters: not known yet")
	case s.NamesAt != s.At || s.Error != "":
		return warn.Render(fmt.Sprintf("names, holders and waiters: not known; below as of %s ago", span(m.now()-s.NamesAt)))
	}
	return fmt.Sprintf("names %d  holders %d  waiters %d  hand-offs seen %.1f/s %s", s.Total, p.Holders, p.Waiters, p.HandOffs, bars(m.history))
}

// mostProblems is the number of problems in the picture.
const mostProblems = 3

// problems returns the most serious problems.
func problems(s *sample.State) (lines []string) {
	for _, p := range s.Problems[:min(len(s.Problems), mostProblems)] {
		style := warn
		if p.Level == "bad" {
			style = bad
		}
		lines = append(lines, style.Render("! "+p.Text))
	}
	if more := len(s.Problems) - mostProblems + s.MoreProblems; more > 0 {
		lines = append(lines, dim.Render("  and "+printable.Count(more, "more problem")))
	}
	return lines
}

// nodeRows limits the nodes, so that there is room for names.
func (m model) nodeRows() int { return max(1, m.height/3) }

func node(n sample.Node) string {
	offset, trip := "–", "–"
	if n.Offset != nil {
		offset = fmt.Sprintf("%+.1f ms", *n.Offset)
	}
	if n.RoundTrip != nil {
		trip = fmt.Sprintf("%.1f ms", *n.RoundTrip)
	}
	said := good.Render("● " + n.Said)
	switch {
	case n.Votes:
	case n.Said == sample.NoAnswerYet:
		said = dim.Render("◌ " + n.Said)
	case n.Reachable:
		said = warn.Render("◐ " + n.Said)
	default:
		said = bad.Render("○ " + n.Said)
	}
	return nodeLine(n.Label, offset, trip, said)
}

func nodeLine(addr, offset, trip, said string) string {
	return fmt.Sprintf("%s %s %s  %s", fit(addr, 30), right(offset, 10), right(trip, 10), said)
}

// bars draws the rates of the last minute.
func bars(values []float64) string {
	if len(values) == 0 {
		return ""
	}
	most := max(1, slices.Max(values))
	var b strings.Builder
	for _, v := range values[max(0, len(values)-30):] {
		b.WriteRune([]rune("▁▂▃▄▅▆▇█")[min(7, int(v/most*7.99))])
	}
	return dim.Render(b.String())
}

// rows returns the number of rows for names.
func (m model) rows() int {
	if m.last.state == nil {
		return 1
	}
	return max(1, m.height-len(m.top())-2)
}

// table returns the head and the names.
func (m model) table() []string {
	wide := max(10, (m.width-39)/2)
	head := []string{fit("NAME", wide), fit("KIND", 9), fit("HOLDER", wide), right("HELD FOR", 9), right("ENDS IN", 8), right("WAITERS", 8)}
	for i, h := range head {
		if strings.TrimSpace(h) == columnNames[m.by] {
			mark := "▾"
			if m.reverse {
				mark = "▴"
			}
			if strings.HasPrefix(h, " ") {
				head[i] = strings.Replace(h, " "+columnNames[m.by], mark+columnNames[m.by], 1)
			} else {
				head[i] = strings.Replace(h, columnNames[m.by]+" ", columnNames[m.by]+mark, 1)
			}
		}
	}
	lines := []string{header.Render(strings.Join(head, " "))}
	list := m.names()
	from := max(0, min(m.from, len(list)-m.rows()))
	for _, n := range list[from:min(len(list), from+m.rows())] {
		lines = append(lines, m.row(n, wide))
	}
	if len(list) == 0 {
		lines = append(lines, dim.Render(m.nothing()))
	}
	return lines
}

// nothing says why there is no name.
func (m model) nothing() string {
	s := m.last.state
	switch {
	case s.Total > 0:
		return "no name fits"
	case s.NamesAt != s.At || s.Error != "":
		return "not known"
	}
	return "nobody has a lock or waits for one"
}

func (m model) row(n sample.Name, wide int) string {
	name := n.Name
	if n.Slot >= 0 {
		name += fmt.Sprintf(" slot %d", n.Slot)
	}
	h := first(n)
	style, holder, age, end := lipgloss.NewStyle(), "nobody", "", ""
	switch {
	case !n.Known:
		style, holder = bad, "not known"
	case h.Label == "" && h.Until == 0:
		style = dim
	default:
		holder = h.Label
		if h.Note != "" {
			style, holder = warn, holder+" ("+h.Note+")"
		}
		if more := max(n.Readers, len(n.Holders)) - 1; more > 0 {
			holder += fmt.Sprintf(" and %d more", more)
		}
		if h.Since > 0 {
			age = span(m.now() - h.Since)
		}
		if end = "never"; h.Until > 0 {
			end = span(h.Until - m.now())
		}
	}
	if n.Old > 0 {
		style, holder, age, end = dim, "was "+holder, "", ""
	}
	waiters := right(fmt.Sprint(n.Waiters), 8)
	if n.Waiters > 0 {
		waiters = bold.Render(waiters)
	}
	if n.Differ != "" {
		waiters += " " + warn.Render(n.Differ)
	}
	return strings.Join([]string{fit(name, wide), fit(n.Kind, 9), style.Render(fit(holder, wide)), right(age, 9), right(end, 8), waiters}, " ")
}

// span returns a time in ms in one or two units.
func span(ms int64) string {
	s := max(0, ms/1000)
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%dm%02ds", s/60, s%60)
	case s < 86400:
		return fmt.Sprintf("%dh%02dm", s/3600, s/60%60)
	}
	return fmt.Sprintf("%dd%02dh", s/86400, s/3600%24)
}

// foot returns the last line: the filter, or the keys.
func (m model) foot() string {
	switch {
	case m.typing:
		return "filter: " + m.filter + "▏ " + dim.Render("enter keeps it, esc clears it")
	case m.paused:
		return warn.Render("paused") + dim.Render("  p goes on")
	}
	said := "q end  s sort  r reverse  / filter  w waiting  p pause  ? keys"
	if m.filter != "" || m.waiting {
		what := []string{}
		if m.filter != "" {
			what = append(what, "filter "+m.filter)
		}
		if m.waiting {
			what = append(what, "only with waiters")
		}
		said = strings.Join(what, ", ") + "  " + said
	}
	return dim.Render(said)
}

// fit pads or cuts a text to a width in cells.
func fit(text string, width int) string {
	text = ansi.Truncate(text, width, "…")
	return text + strings.Repeat(" ", max(0, width-ansi.StringWidth(text)))
}

// right does the same as fit for a text at the right edge.
func right(text string, width int) string {
	text = ansi.Truncate(text, width, "…")
	return strings.Repeat(" ", max(0, width-ansi.StringWidth(text))) + text
}
