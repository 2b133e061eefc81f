package main

import (
	"bufio"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"time"
)

// compareAndDelete is the release script from the specification of Redlock.
const compareAndDelete = `if redis.call("get",KEYS[1]) == ARGV[1] then return redis.call("del",KEYS[1]) else return 0 end`

// bare is the limit (a) of the report: SET NX PX, and compare-and-delete by digest.
type bare struct {
	sha string
}

func openBare(urls []string) (locker, error) {
	wires, err := dialWires(urls)
	if err != nil {
		return nil, err
	}
	sum := sha1.Sum([]byte(compareAndDelete))
	b := bare{sha: hex.EncodeToString(sum[:])}
	for _, w := range wires {
		if _, err := w.conn.Write(request(nil, "SCRIPT", "LOAD", compareAndDelete)); err != nil {
			return nil, err
		}
		if r, err := readReply(bufio.NewReader(w.conn)); err != nil || string(r) != b.sha {
			return nil, fmt.Errorf("SCRIPT LOAD: %q, %w", r, err)
		}
	}
	return &limit{wires: wires, speak: b}, nil
}

// draw gives the lane a new owner, as long as an owner of redsync.
func (b bare) draw(ln *lane) {
	ln.owner = fmt.Sprintf("%08d%016d", ln.id, ln.all)
}

func (b bare) acquire(out []byte, ln *lane, _ int) []byte {
	out = append(out, "*6\r\n$3\r\nSET\r\n"...)
	out = bulk(out, ln.name)
	out = bulk(out, ln.owner)
	return append(out, "$2\r\nNX\r\n$2\r\nPX\r\n$5\r\n10000\r\n"...)
}

func (b bare) release(out []byte, ln *lane, _ int) []byte {
	out = append(out, "*5\r\n$7\r\nEVALSHA\r\n"...)
	out = bulk(out, b.sha)
	out = append(out, "$1\r\n1\r\n"...)
	out = bulk(out, ln.name)
	return bulk(out, ln.owner)
}

func (b bare) granted(reply []byte) bool  { return string(reply) == "OK" }
func (b bare) released(reply []byte) bool { return string(reply) == "1" }

// These functions implement the part of RESP that the measurements of limits need.

func request(out []byte, words ...string) []byte {
	out = append(strconv.AppendInt(append(out, '*'), int64(len(words)), 10), "\r\n"...)
	for _, w := range words {
		out = bulk(out, w)
	}
	return out
}

func bulk(out []byte, s string) []byte {
	out = append(strconv.AppendInt(append(out, '$'), int64(len(s)), 10), "\r\n"...)
	return append(append(out, s...), "\r\n"...)
}

// readReply returns the text of a status, an integer or a string, and "" for nil. The text is valid until the next
// call. For an error reply it returns an error.
func readReply(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	if len(line) < 3 {
		return nil, errors.New("short reply")
	}
	text := line[1 : len(line)-2]
	switch line[0] {
	case '+', ':':
		return text, nil
	case '-':
		return nil, errors.New(string(text))
	case '$':
		n, err := strconv.Atoi(string(text))
		if err != nil || n < 0 {
			return nil, err
		}
		body, err := in.Peek(n + 2)
		if err != nil {
			return nil, err
		}
		_, err = in.Discard(n + 2)
		return body[:n], err
	}
	return nil, fmt.Errorf("reply %q", line)
}

// stamps draws stamps in µs since the epoch, each larger than the last. The nodes of a bench share one clock.
type stamps struct{ last int64 }

func (s *stamps) draw() int64 {
	s.last = max(time.Now().UnixMicro(), s.last+1)
	return s.last
}
