//go:build linux

package incident

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/holdfast-go/holdfast/internal/pty"
)

// views are the ways in which an operator looks. Each returns what it shows as text.
var views = []struct {
	name string
	look func(*ward) string
}{
	{"nodes", func(w *ward) string { return w.shows("nodes") }},
	{"doctor", func(w *ward) string { return w.shows("doctor", "--older-than", "5s") }},
	{"top", (*ward).top},
	{"page", (*ward).problems},
	{"metrics", (*ward).scrape},
}

// shows returns what a command prints, and its exit code.
func (w *ward) shows(args ...string) string {
	out, code := w.run(args...)
	return fmt.Sprintf("%sexit code %d\n", out, code)
}

// moves are the control sequences of a terminal that begin another line, and escapes are the others.
var moves = regexp.MustCompile(`\x1b\[[0-9;]*[Hd]`)

var escapes = regexp.MustCompile(`\x1b\[[0-9;?<>=]*[a-zA-Z]|\x1b[()][A-Z0-9]|\x1b[=>78]|\r`)

// top returns the screen of holdfast top after some readings.
func (w *ward) top() string {
	person, program := pty.Open(w.t)
	size := func(columns uint16) {
		if err := unix.IoctlSetWinsize(int(person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 50, Col: columns}); err != nil {
			w.t.Fatal(err)
		}
	}
	size(160)
	c := w.command("top")
	c.Stdin, c.Stdout, c.Stderr = program, program, program
	if err := c.Start(); err != nil {
		w.t.Fatal(err)
	}
	var mu sync.Mutex
	var b strings.Builder
	read := make(chan struct{})
	go func() {
		defer close(read)
		for part := make([]byte, 1<<16); ; {
			n, err := person.Read(part)
			mu.Lock()
			b.Write(part[:n])
			mu.Unlock()
			if err != nil {
				return // the terminal is closed
			}
		}
	}()
	time.Sleep(6 * time.Second) // what an operator sees after some seconds
	mu.Lock()
	b.Reset()
	mu.Unlock()
	size(159) // top then draws the whole screen, and not only what has changed
	_ = c.Process.Signal(unix.SIGWINCH)
	time.Sleep(time.Second)
	mu.Lock()
	text := b.String()
	mu.Unlock()
	_ = c.Process.Signal(unix.SIGTERM)
	_ = c.Wait()
	_ = program.Close()
	_ = person.Close()
	<-read
	return moves.ReplaceAllString(escapes.ReplaceAllString(moves.ReplaceAllString(text, "\n"), ""), "\n")
}

// problems returns what the page says about the state of the set: the problems of its last reading.
func (w *ward) problems() string {
	r, err := http.Get("http://" + w.page + "/events")
	if err != nil {
		return err.Error()
	}
	defer r.Body.Close()
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, 16<<20)
	for state, n := false, 0; lines.Scan(); {
		if event, is := strings.CutPrefix(lines.Text(), "event: "); is {
			state = event == "state"
		}
		data, is := strings.CutPrefix(lines.Text(), "data: ")
		if !is || !state {
			continue
		}
		if n++; n < 3 { // the first one may be from before the fault
			continue
		}
		var reading struct {
			Problems []struct{ Level, Text string }
		}
		if err := json.Unmarshal([]byte(data), &reading); err != nil {
			return err.Error()
		}
		var b strings.Builder
		for _, p := range reading.Problems {
			fmt.Fprintf(&b, "%s: %s\n", p.Level, p.Text)
		}
		if len(reading.Problems) == 0 {
			b.WriteString("nothing needs attention\n")
		}
		return b.String()
	}
	return "the stream ended"
}

// scrape returns the metrics of all processes.
func (w *ward) scrape() string { return metricsOf(w.metrics) + metricsOf(w.fleet) }

func metricsOf(addr string) string {
	r, err := http.Get("http://" + addr + "/metrics")
	if err != nil {
		return err.Error()
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
