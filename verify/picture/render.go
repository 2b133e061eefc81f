package main

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// line is a line of output, and the time from the start of the command until the command printed it.
type line struct {
	text string
	at   time.Duration
}

// read returns the lines of a command as they come.
func read(from io.Reader) (lines []line) {
	began := time.Now()
	for in := bufio.NewScanner(from); in.Scan(); {
		lines = append(lines, line{in.Text(), time.Since(began)})
	}
	return lines
}

// These are the sizes in the picture, in pixels. A monospaced font is about 0.6 times as wide as it is high.
const (
	size   = 14
	column = 8.5
	row    = 20
	edge   = 20
	bar    = 34 // of the window, with its three buttons
)

// colours are the classes of lines, by a text in them. The first match counts.
var colours = []struct{ class, text string }{
	{"head", "With a lock"}, {"head", "Without a lock"},
	{"good", "kept "}, {"good", "votes again"}, {"good", "Every promise"},
	{"bad", "broken"}, {"bad", " lost. "}, {"bad", " killed"}, {"bad", " frozen between"},
}

func class(text string) string {
	for _, c := range colours {
		if strings.Contains(text, c.text) {
			return c.class
		}
	}
	return "text"
}

// render returns the picture. The times of the lines are divided by one number, so that the last line comes at length.
func render(prompt string, lines []line, length time.Duration) string {
	columns, last := utf8.RuneCountInString(prompt), time.Duration(1)
	for _, l := range lines {
		columns, last = max(columns, utf8.RuneCountInString(l.text)), max(last, l.at)
	}
	width, height := float64(columns)*column+2*edge, bar+(len(lines)+1)*row+edge
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" role="img" aria-label="the output of %s">
<style>
text { font: %dpx ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace }
text { white-space: pre; fill: #d5d9e0; animation: show .2s both }
.head { fill: #8ab4f8; font-weight: bold } .good { fill: #7ee08a } .bad { fill: #ff8f80 }
@keyframes show { from { opacity: 0 } }
@media (prefers-reduced-motion: reduce) { text { animation: none } }
</style>
<rect width="100%%" height="100%%" rx="8" fill="#1c1f26"/>
<circle cx="20" cy="18" r="6" fill="#ff5f57"/><circle cx="40" cy="18" r="6" fill="#febc2e"/>
<circle cx="60" cy="18" r="6" fill="#28c840"/>
`, width, height, html.EscapeString(strings.TrimPrefix(prompt, "$ ")), size)
	for i, l := range append([]line{{text: prompt}}, lines...) {
		if strings.TrimSpace(l.text) == "" {
			continue
		}
		seconds := length.Seconds() * float64(l.at) / float64(last)
		fmt.Fprintf(&b, `<text x="%d" y="%d" class="%s" style="animation-delay:%.1fs" xml:space="preserve">%s</text>`+"\n",
			edge, bar+(i+1)*row, class(l.text), seconds, html.EscapeString(l.text))
	}
	b.WriteString("</svg>\n")
	return b.String()
}
