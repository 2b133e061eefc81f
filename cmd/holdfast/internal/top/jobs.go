package top

import (
	"fmt"

	"charm.land/lipgloss/v2"

	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/sample"
	"github.com/holdfast-go/holdfast/internal/core/printable"
)

// jobs returns the lines of the jobs, those that need attention first. It returns none if there are no jobs.
func (m model) jobs() []string {
	s := m.last.state
	if len(s.Jobs) == 0 {
		return nil
	}
	head := m.jobLine("JOB", "STATE", "LAST", "NEXT")
	if s.JobsError != "" && s.JobsAt > 0 {
		head += "  as of " + span(m.now()-s.JobsAt) + " ago"
	}
	lines := []string{"", dim.Render(head)}
	shown := min(len(s.Jobs), m.jobRows())
	for _, j := range s.Jobs[:shown] {
		lines = append(lines, m.job(j))
	}
	if hidden := s.JobsTotal - shown; hidden > 0 {
		lines = append(lines, dim.Render("  and "+printable.Count(hidden, "more job")))
	}
	return lines
}

// jobRows limits the jobs, so that there is room for names.
func (m model) jobRows() int { return max(1, m.height/5) }

func (m model) job(j sample.Job) string {
	state, style := j.State, lipgloss.NewStyle()
	switch {
	case j.Overdue > 0:
		state, style = "overdue", bad
	case j.State == "failed" || j.State == "crashed":
		style = bad
	case j.Failing:
		state, style = j.State+" (failed before)", bad
	case j.Paused != "":
		state, style = "paused", warn
	case j.Retired:
		state, style = "retired", dim
	case j.State == "done":
		style = good
	}
	last, next := "never", "not known"
	if end := max(j.Done, j.Failed, j.Started); end > 0 {
		last = span(m.now()-end) + " ago"
	}
	switch {
	case j.Paused != "":
		next = "–"
	case j.Overdue > 0:
		next = span(m.now()-j.Overdue) + " late"
	case j.Next > m.now():
		next = "in " + span(j.Next-m.now())
	case j.Next > 0:
		next = "now"
	}
	_, wide := m.jobWidths()
	line := m.jobLine(j.Name, style.Render(fit(state, wide)), last, next)
	if j.Error != "" {
		line += "  " + dim.Render(j.Error)
	}
	return line
}

// jobWidths returns the widths of the names and of the states. On a narrow terminal they leave room for the times.
func (m model) jobWidths() (name, state int) {
	room := m.width - 2*timeWidth - 3
	name = max(8, min(30, room*4/7))
	return name, max(7, min(23, room-name))
}

func (m model) jobLine(name, state, last, next string) string {
	a, b := m.jobWidths()
	return fmt.Sprintf("%s %s %s %s", fit(name, a), fit(state, b), right(last, timeWidth), right(next, timeWidth))
}

// timeWidth is the width of the columns LAST and NEXT.
const timeWidth = 11
