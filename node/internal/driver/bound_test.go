package driver

import (
	"bufio"
	"io"
	"net"
	"reflect"
	"strings"
	"testing"
)

// piece is a connection from which text comes in pieces of size bytes.
type piece struct {
	net.Conn
	text string
	size int
}

func (p *piece) Read(b []byte) (int, error) {
	if p.text == "" {
		return 0, io.EOF
	}
	n := copy(b[:min(len(b), p.size)], p.text)
	p.text = p.text[n:]
	return n, nil
}

func (p *piece) Write(b []byte) (int, error) { return len(b), nil }

// through reads text through a bound connection. The text comes in pieces of size bytes.
func through(text string, size int) (string, error) {
	got, err := io.ReadAll(Bound(&piece{text: text, size: size}))
	return string(got), err
}

func TestWhatRedisSaysPasses(t *testing.T) {
	for _, text := range []string{
		"+OK\r\n", "-ERR no\r\n", ":-12\r\n", "$-1\r\n", "*-1\r\n", "$0\r\n\r\n", "$3\r\n\r\n\n\r\n", "*0\r\n", "*2\r\n*1\r\n:1\r\n$1\r\na\r\n", "_\r\n", "#t\r\n", ",1.5\r\n", "(123\r\n",
		"!5\r\nERR x\r\n", "=7\r\ntxt:abc\r\n", "%1\r\n+a\r\n:1\r\n", "~1\r\n+a\r\n", ">2\r\n+a\r\n+b\r\n", "*2\r\n*0\r\n%0\r\n:1\r\n", "$5\r\n",
		"$100000\r\n" + strings.Repeat("x", 100000) + "\r\n", strings.Repeat("*3\r\n:1\r\n:2\r\n:3\r\n", mostElements),
	} {
		for _, size := range []int{1, 2, 3, 7, 1 << 20} {
			if got, err := through(text, size); err != nil || got != text {
				t.Errorf("%.40q in pieces of %d: %.40q, %v", text, size, got, err)
			}
		}
	}
}

func TestWhatNobodyWouldReadIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"HTTP/1.1 400 Bad Request\r\n": "is this Redis or Valkey?", "+OK\n": "is this Redis", "$-2\r\n": "length", "%-1\r\n": "length", "=-1\r\n": "length", "*+1\r\n": "length", "$?\r\n": "length",
		":\r\n": "is this Redis", ":--1\r\n": "is this Redis", "_x\r\n": "is this Redis", "#x\r\n": "is this Redis", "|1\r\n": "is this Redis", "$1\r\nabc\r\n": "does not end",
		"$8388609\r\n": "length 8388609; at most 8388608", "$9223372036854775807\r\n": "at most", "$99999999999999999999\r\n": "length", "*16385\r\n": "at most 16384",
		"%8193\r\n": "more than 16384 elements", "*2\r\n*16383\r\n": "more than 16384 elements", strings.Repeat("*1\r\n", mostNested+1): "nested its answer more than 8 deep",
		"+" + strings.Repeat("x", mostLine) + "\r\n": "a line of more than",
	} {
		for _, size := range []int{1, 2, 1 << 20} {
			if _, err := through(text, size); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%.40q in pieces of %d: %v; want %q", text, size, err, want)
			}
		}
	}
}

func TestALedgerRefusesWhatNobodyAskedFor(t *testing.T) {
	const ping = "*1\r\n$4\r\nPING\r\n"
	for _, c := range []struct {
		asked int // the argument of Ask; -1: the ledger counts the commands that are written during the handshake
		text  string
		ok    bool
	}{
		{-1, "+PONG\r\n", true}, {-1, "+PONG\r\n+PONG\r\n", true}, {-1, "+PONG\r\n+PONG\r\n+PONG\r\n", false}, {-1, ">2\r\n+a\r\n+b\r\n", false},
		{0, "", true}, {0, "+OK\r\n", false}, {3, "*2\r\n:1\r\n:2\r\n:1\r\n:2\r\n", true}, {1, "*2\r\n:1\r\n:2\r\n:1\r\n", false}, {1, ">1\r\n+a\r\n+OK\r\n", false},
	} {
		l := NewLedger(&piece{text: c.text, size: 1 << 10})
		if _, err := io.WriteString(l, ping+ping); err != nil {
			t.Fatal(err)
		}
		if c.asked >= 0 {
			l.Ask(c.asked)
		}
		if _, err := io.ReadAll(l); (err == nil) != c.ok {
			t.Errorf("%q after %d commands: %v", c.text, c.asked, err)
		}
		l = NewLedger(&piece{text: c.text, size: 1 << 10})
		l.Subscribe()
		if _, err := io.ReadAll(l); err != nil {
			t.Errorf("%q on a subscription: %v", c.text, err)
		}
	}
}

func TestAnswersOfASubscription(t *testing.T) {
	for text, want := range map[string]Answer{
		">3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$2\r\nhi\r\n": {Words: []string{"message", "c", "hi"}},
		"*3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n":     {Words: []string{"subscribe", "c", "1"}},
		"+PONG\r\n": {}, "$4\r\nPONG\r\n": {}, "*0\r\n": {}, "$-1\r\n": {}, "-NOPERM no\r\n": {Err: "-NOPERM no"}, "-\r\n": {Err: "-"}, "!2\r\nno\r\n": {Err: "-no"},
		"*2\r\n*1\r\n:1\r\n:2\r\n": {}, "%1\r\n+a\r\n+b\r\n": {}, "*1\r\n-ERR\r\n": {},
	} {
		in := bufio.NewReader(strings.NewReader(text + "+next\r\n"))
		got, err := ReadAnswer(in)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
		if rest, _ := in.ReadString(0); rest != "+next\r\n" {
			t.Errorf("%q: %q is left", text, rest)
		}
	}
}

// The verdict does not depend on the pieces in which the bytes of a server come. Accepted bytes can be read.
func FuzzBound(f *testing.F) {
	for _, s := range []string{"+OK\r\n", "*2\r\n:1\r\n$1\r\na\r\n", "%1\r\n_\r\n#t\r\n", "$-1\r\n>1\r\n,1\r\n", "*1\r\n*1\r\n*1\r\n$0\r\n\r\n", "-x\r\n!1\r\ne\r\n"} {
		f.Add(s, 3)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		_, whole := through(text, 1<<20)
		got, pieces := through(text, max(1, size))
		if (whole == nil) != (pieces == nil) || whole != nil && whole.Error() != pieces.Error() {
			t.Fatalf("%q: %v, in pieces of %d: %v", text, whole, size, pieces)
		}
		if whole != nil {
			return
		}
		if got != text {
			t.Fatalf("%q came as %q", text, got)
		}
		for in := bufio.NewReader(strings.NewReader(text)); ; {
			if _, err := ReadAnswer(in); err == io.EOF || err == io.ErrUnexpectedEOF {
				break
			} else if err != nil {
				t.Fatalf("%q passed, but: %v", text, err)
			}
		}
	})
}
