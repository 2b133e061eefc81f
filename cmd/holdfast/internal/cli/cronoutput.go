package cli

import (
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/job"
)

// This file has the output of a job's command that the nodes store beside the outcome.

// tail keeps the end of an output: at most [job.MostOutput] bytes, whole lines if possible. A nil tail keeps nothing. It is
// safe for concurrent use.
type tail struct {
	hide *strings.Replacer

	mu   sync.Mutex
	kept []byte
}

// add adds a piece of the output. Secrets are replaced before the piece is cut, so that no half of a secret is kept.
func (t *tail) add(piece []byte) {
	if t == nil {
		return
	}
	clean := t.hide.Replace(strings.ToValidUTF8(string(piece), "\uFFFD"))
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, clean...)
	if len(t.kept) > 2*job.MostOutput { // not at each call, because a cut copies
		t.kept = append([]byte(nil), t.kept[len(t.kept)-job.MostOutput-utf8.UTFMax:]...)
	}
}

// text returns the end of the output. If it was cut, it begins with a whole line, or with a whole rune in a very long line.
func (t *tail) text() string {
	if t == nil {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	text := string(t.kept)
	cut := len(text) - job.MostOutput
	if cut <= 0 {
		return text
	}
	if line := strings.IndexByte(text[cut-1:], '\n'); line >= 0 && cut+line < len(text) {
		return text[cut+line:]
	}
	for cut < len(text) && !utf8.RuneStart(text[cut]) {
		cut++
	}
	return text[cut:]
}

// hidden stands for a secret in a stored output.
const hidden = "***"

// shortestSecret is the length, in bytes, of the shortest value of an env-file that is a secret. Shorter values, such as 1
// or true, also occur in other words.
const shortestSecret = 6

// hiding returns a replacer for the secrets that a command may print: the values of its env-file, and the passwords of
// the nodes.
func hiding(env []string, nodes []string) *strings.Replacer {
	var secrets []string
	for _, kv := range env {
		if _, value, _ := strings.Cut(kv, "="); len(value) >= shortestSecret {
			secrets = append(secrets, value)
		}
	}
	for _, node := range nodes {
		_, rest, _ := strings.Cut(node, "://")
		at := strings.LastIndexByte(rest, '@')
		if at < 0 {
			continue
		}
		_, password, _ := strings.Cut(rest[:at], ":")
		secrets = append(secrets, password)
		if plain, err := url.PathUnescape(password); err == nil {
			secrets = append(secrets, plain)
		}
	}
	secrets = slices.DeleteFunc(secrets, func(s string) bool { return s == "" })
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) }) // the first one that fits is replaced
	var pairs []string
	for _, s := range secrets {
		pairs = append(pairs, s, hidden)
	}
	return strings.NewReplacer(pairs...)
}

// nodesNow returns the URLs of the nodes, with those that the file of nodes has now: its passwords may have changed.
func (s *settings) nodesNow() []string {
	urls := slices.Clone(s.nodes)
	if s.rotates {
		lines, _, _ := readLines(s.nodesFile)
		for _, l := range lines {
			urls = append(urls, l.url)
		}
	}
	return urls
}
