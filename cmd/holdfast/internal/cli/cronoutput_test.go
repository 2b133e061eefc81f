package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/holdfast-go/holdfast/job"
)

func TestATailIsTheEndOfAnOutput(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		pieces []string
		want   func(text string) bool
	}{
		"nothing": {nil, func(text string) bool { return text == "" }},
		"short":   {[]string{"a\n", "b\n"}, func(text string) bool { return text == "a\nb\n" }},
		"exactly": {[]string{strings.Repeat("x", job.MostOutput)}, func(text string) bool { return len(text) == job.MostOutput }},
		"lines": {slicesOf("0123456789\n", 1000), func(text string) bool {
			return strings.HasPrefix(text, "0123456789\n") && len(text)%11 == 0 && len(text) > job.MostOutput-11 && len(text) <= job.MostOutput
		}},
		"a long line": {[]string{strings.Repeat("é", job.MostOutput), "x"}, func(text string) bool {
			return utf8.ValidString(text) && strings.HasSuffix(text, "éx") && len(text) > job.MostOutput-4 && len(text) <= job.MostOutput
		}},
		"half a rune is cut": {[]string{strings.Repeat("é", 3*job.MostOutput), "x"}, utf8.ValidString},
		"no text":            {[]string{"a\xff\xfeb"}, func(text string) bool { return text == "a\uFFFDb" }},
		"a long line's end":  {[]string{strings.Repeat("x", 5*job.MostOutput) + "\n"}, func(text string) bool { return len(text) == job.MostOutput }},
		"a word after a long line": {[]string{strings.Repeat("x", 5000) + "\n", "END\n"}, func(text string) bool {
			return len(text) == job.MostOutput && strings.HasSuffix(text, "xx\nEND\n")
		}},
		"line at the border": {[]string{"lost\n" + strings.Repeat("x", job.MostOutput)}, func(text string) bool { return text == strings.Repeat("x", job.MostOutput) }},
	} {
		kept := &tail{}
		for stream := kept.stream(); len(c.pieces) > 0; c.pieces = c.pieces[1:] {
			stream.add([]byte(c.pieces[0]))
		}
		if got := kept.text(); !c.want(got) {
			t.Errorf("%s: %d bytes, %.40q … %q", name, len(got), got, got[max(0, len(got)-20):])
		}
	}
}

func slicesOf(text string, n int) (all []string) {
	for range n {
		all = append(all, text)
	}
	return all
}

// The values of an env-file and the passwords of the nodes are not stored. Each is replaced as a whole, also if a shorter
// secret is a part of it.
func TestATailHasNoSecrets(t *testing.T) {
	t.Parallel()
	hide := hiding([]string{"TOKEN=abcdefgh", "LONGER=abcdefghijkl", "DEBUG=1"},
		[]string{"redis://:pw@a", "redis+cluster://me:a%40b@a:1,b:2/0", "redis://10.0.0.1"})
	for text, want := range map[string]string{
		"token abcdefgh.":         "token ***.",
		"abcdefghijkl":            "***",
		"1 of 1 with redis":       "1 of 1 with redis",
		"redis://:pw@a":           "redis://:***@a",
		"a@b and a%40b at 10.0.0": "*** and *** at 10.0.0",
	} {
		kept := &tail{hide: hide}
		kept.stream().add([]byte(text))
		if got := kept.text(); got != want {
			t.Errorf("%q is stored as %q, want %q", text, got, want)
		}
	}
}

// The passwords of a node also stand behind the ? of its URL. Other parameters are no secrets.
func TestATailHasNoPasswordOfAParameter(t *testing.T) {
	t.Parallel()
	for _, node := range []string{
		"unix:///run/redis/redis.sock?user=jobs&password=top%2Bsecret1", "unix:///run/redis.sock?password=top+secret1",
		"redis+sentinel://jobs:pw-of-node@s1,s2,s3/mymaster?sentinel-user=jobs&sentinel-password=top+secret1&wait=1",
		"redis://:top+secret1@web:6379?x=a@b",
	} {
		to := &tail{hide: hiding(nil, []string{node})}
		to.stream().add([]byte("password top+secret1 or top secret1\n" + node + "\n1 jobs\n"))
		text := to.text()
		if strings.Contains(text, "secret1") && !strings.Contains(text, "or top secret1") || strings.Contains(text, "top+secret1") || strings.Contains(text, "top%2B") {
			t.Errorf("of %s is stored: %q", node, text)
		}
		if !strings.HasSuffix(text, "\n1 jobs\n") {
			t.Errorf("of %s too much is hidden: %q", node, text)
		}
	}
}

// A secret is replaced also if it lies in two pieces of a long line, or has bytes that are not UTF-8.
func TestATailHasNoPartOfASecret(t *testing.T) {
	t.Parallel()
	const secret = "supersecretpassword"
	hide := hiding([]string{"PW=" + secret, "SHORT=secretary", "LATIN=p\xe4sswort99"}, nil)
	for at := range len(secret) + 1 {
		kept := &tail{hide: hide}
		out, other := kept.stream(), kept.stream()
		out.add([]byte("é" + secret[:at]))
		other.add([]byte("other\n"))
		out.add([]byte(secret[at:] + "é\n"))
		if got := strings.ReplaceAll(kept.text(), "other\n", ""); got != "é***é\n" {
			t.Errorf("cut after %d bytes: %q", at, got)
		}
	}
	for text, want := range map[string]string{
		"is p\xe4sswort99.":         "is ***.",
		"\xffp\xe4sswort99\xff\xfe": "\uFFFD***\uFFFD",
		secret + secret + "\n":      "******\n",
		"super" + secret:            "super***",
		"supersecre":                "supersecre",
	} {
		kept := &tail{hide: hide}
		stream := kept.stream()
		for i := range len(text) {
			stream.add([]byte{text[i]})
		}
		if got := kept.text(); got != want {
			t.Errorf("%q is stored as %q, want %q", text, got, want)
		}
	}
}
