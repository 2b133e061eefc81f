//go:build linux

package incident

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

var write = flag.Bool("incident.write", false, "write docs/results/incident.md")

// patience is how long a view may take to show a fault.
const patience = 100 * time.Second

// cell is what a view must say about a fault, and what it must not say.
type cell struct{ says, not []string }

// never are texts that no view may show: they come from inside of the program, or say two things at once.
var never = []string{`use of closed network connection`, `refused: timed out`, `<nil>`, `%!`, `context deadline exceeded`, `context canceled`}

// judge returns why a text is no right cell, "" if it is.
func (c cell) judge(text string) string {
	for _, want := range c.says {
		if !regexp.MustCompile(want).MatchString(text) {
			return "does not say " + want
		}
	}
	for _, not := range append(slices.Clone(never), c.not...) {
		if found := regexp.MustCompile(not).FindString(text); found != "" {
			return fmt.Sprintf("says %q", found)
		}
	}
	return ""
}

// TestNobodyIsMisledByAFault seeds each fault, and looks at each view until it says what is wrong.
func TestNobodyIsMisledByAFault(t *testing.T) {
	var mu sync.Mutex
	rows := map[string]string{}
	pictures := newAlbum(t)
	t.Run("faults", func(t *testing.T) {
		for i, f := range faults {
			t.Run(strings.ReplaceAll(f.name, " ", "-"), func(t *testing.T) {
				t.Parallel()
				w := newWard(t)
				p := w.watch()
				cells := f.seed(w)
				all := append(slices.Clone(views), struct {
					name string
					look func(*ward) string
				}{"alerts", func(*ward) string { return p.look() }})
				row := "| " + f.name
				for _, v := range all {
					text, wrong := "", "never looked"
					for end := time.Now().Add(patience); wrong != "" && time.Now().Before(end); {
						text = v.look(w)
						wrong = cells[v.name].judge(text)
					}
					if wrong != "" {
						t.Errorf("%s %s:\n%s", v.name, wrong, text)
					}
					row += " | " + cells[v.name].quote(text)
				}
				pictures.take(w, p, i, cells["alerts"])
				mu.Lock()
				rows[f.name] = row + " |"
				mu.Unlock()
			})
		}
	})
	table := "| fault |"
	for _, v := range views {
		table += " " + v.name + " |"
	}
	table += " alerts |\n|" + strings.Repeat("---|", len(views)+2) + "\n"
	for _, f := range faults {
		table += rows[f.name] + "\n"
	}
	fmt.Println(table)
	if *write && !t.Failed() {
		text := "# What an operator sees of a fault\n\n`make metrics WRITE=1` seeds each fault on three real servers. Each cell has words of the view that the test demands.\nWith a dash, the view does not show the fault, and must only say nothing that is false.\n\n" + table
		if err := os.WriteFile("../../docs/results/incident.md", []byte(text), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// quote returns the words of a text that the cell demands.
func (c cell) quote(text string) string {
	var found []string
	for _, want := range c.says {
		part := regexp.MustCompile(want).FindString(text)
		found = append(found, "`"+strings.ReplaceAll(strings.Join(strings.Fields(part), " "), "|", "/")+"`")
	}
	if len(found) == 0 {
		return "–"
	}
	return strings.Join(found, ", ")
}
