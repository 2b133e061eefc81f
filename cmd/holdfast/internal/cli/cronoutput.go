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

// tail keeps the end of an output: at most [job.MostOutput] bytes, with [hidden] in place of secrets. A nil tail keeps
// nothing. It is safe for concurrent use.
type tail struct {
	hide secrets

	mu      sync.Mutex
	kept    []byte
	streams []*stream
}

// stream is one of the streams of an output, such as stderr. All methods of a nil stream do nothing.
type stream struct {
	of   *tail
	rest []byte // the end of a line, which may be the beginning of a secret; of.mu guards it
}

// stream returns a new stream of the output.
func (t *tail) stream() *stream {
	if t == nil {
		return nil
	}
	s := &stream{of: t}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.streams = append(t.streams, s)
	return s
}

// add adds a piece of the stream: a line, or a part of a long one. A secret may lie in two pieces of a line, but not in two
// lines. Secrets are replaced before the output is cut, so that no half of a secret is kept.
func (s *stream) add(piece []byte) {
	if s == nil || len(piece) == 0 {
		return
	}
	t := s.of
	t.mu.Lock()
	defer t.mu.Unlock()
	var rest []byte
	t.kept, rest = t.hide.mask(t.kept, append(s.rest, piece...), piece[len(piece)-1] == '\n')
	s.rest = slices.Clone(rest)
	if len(t.kept) > 4*job.MostOutput { // not at each call, because a cut copies
		from := len(t.kept) - 2*job.MostOutput
		for n := 0; n < utf8.UTFMax && !utf8.RuneStart(t.kept[from]); n++ {
			from++
		}
		t.kept = slices.Clone(t.kept[from:])
	}
}

// text returns the end of the output. Bytes that are not UTF-8 become U+FFFD. If the output was cut, the text begins with a
// whole line. But if a long line would then take more than half of the text away, it begins within this line.
func (t *tail) text() string {
	if t == nil {
		return ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	kept := slices.Clone(t.kept)
	for _, s := range t.streams { // the last line may have no end
		kept, _ = t.hide.mask(kept, s.rest, true)
	}
	text := strings.ToValidUTF8(string(kept), "\uFFFD")
	cut := len(text) - job.MostOutput
	if cut <= 0 {
		return text
	}
	if line := strings.IndexByte(text[cut-1:], '\n'); line >= 0 && len(text)-cut-line >= job.MostOutput/2 {
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

// secrets are texts that are not stored. The longest is the first, because the first one that fits is replaced.
type secrets []string

// hiding returns the secrets that a command may print: the values of its env-file, and the passwords of the nodes.
func hiding(env []string, nodes []string) secrets {
	var all secrets
	for _, kv := range env {
		if _, value, _ := strings.Cut(kv, "="); len(value) >= shortestSecret {
			all = append(all, value)
		}
	}
	for _, node := range nodes {
		all = append(all, passwordsOf(node)...)
	}
	all = slices.DeleteFunc(all, func(s string) bool { return s == "" })
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return all
}

// passwordsOf returns the passwords in the URL of a node, as they are written there and as they are meant.
func passwordsOf(node string) (all []string) {
	add := func(password string) {
		all = append(all, password)
		for _, unescape := range []func(string) (string, error){url.PathUnescape, url.QueryUnescape} {
			if plain, err := unescape(password); err == nil {
				all = append(all, plain)
			}
		}
	}
	_, rest, _ := strings.Cut(node, "://")
	address, parameters, _ := strings.Cut(rest, "?")
	for _, part := range []string{address, rest} { // a parameter may have an @, and a password a ?
		if at := strings.LastIndexByte(part, '@'); at >= 0 {
			_, password, _ := strings.Cut(part[:at], ":")
			add(password)
		}
	}
	for parameter := range strings.SplitSeq(parameters, "&") {
		name, value, _ := strings.Cut(parameter, "=")
		if plain, err := url.QueryUnescape(name); err == nil && strings.HasSuffix(plain, "password") {
			add(value)
		}
	}
	return all
}

// mask appends a text to kept, with hidden in place of each secret. Unless the text is whole, more of its line follows: then
// mask returns the end of the text that a secret may need, and does not append that. It works on bytes and not on runes,
// because a secret may have bytes that are not UTF-8.
func (s secrets) mask(kept, text []byte, whole bool) (masked, rest []byte) {
	longest := 0
	var begins [256]bool // the first bytes of secrets, so that most bytes of the text need no comparison
	for _, secret := range s {
		longest, begins[secret[0]] = max(longest, len(secret)), true
	}
	from, i := 0, 0 // text[from:i] has no secret
	for i < len(text) && (whole || len(text)-i >= longest) {
		secret := ""
		if begins[text[i]] {
			secret = s.at(text[i:])
		}
		if secret == "" {
			i++
			continue
		}
		kept = append(append(kept, text[from:i]...), hidden...)
		i += len(secret)
		from = i
	}
	for n := 1; !whole && n < utf8.UTFMax && i-n >= from; n++ { // another stream may come between the halves of a rune
		if start := i - n; utf8.RuneStart(text[start]) {
			if !utf8.FullRune(text[start:i]) {
				i = start
			}
			break
		}
	}
	return append(kept, text[from:i]...), text[i:]
}

// at returns the secret with which a text begins, "" if there is none.
func (s secrets) at(text []byte) string {
	for _, secret := range s {
		if len(secret) <= len(text) && string(text[:len(secret)]) == secret {
			return secret
		}
	}
	return ""
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
