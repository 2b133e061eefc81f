package driver

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Answer is one message of a server on a subscription: an error or words.
type Answer struct {
	Err   string   // the error with its "-"; "" if there is no error
	Words []string // the words of a push or of an array without nested arrays; otherwise nil
}

// ReadAnswer reads one answer, in RESP2 or RESP3, from a connection that [Bound] has made.
func ReadAnswer(in *bufio.Reader) (a Answer, err error) {
	kind, text, n, err := readElement(in)
	switch {
	case err != nil:
		return a, err
	case kind == '-' || kind == '!':
		a.Err = "-" + text
		return a, nil
	}
	nested := kind != '*' && kind != '>'
	for missing := n; missing > 0; missing-- {
		kind, text, n, err := readElement(in)
		if err != nil {
			return a, err
		}
		if n > 0 {
			nested, missing = true, missing+n
		}
		if kind == '-' || kind == '!' {
			nested = true
		}
		a.Words = append(a.Words, text)
	}
	if nested {
		a.Words = nil
	}
	return a, nil
}

// readElement reads a line, and the string that the line announces, if there is one. n is the number of elements that
// the line announces.
func readElement(in *bufio.Reader) (kind byte, text string, n int, err error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return 0, "", 0, err
	}
	kind, text = line[0], strings.TrimSuffix(line[1:], "\r\n")
	switch kind {
	case '*', '>', '~', '%', '$', '!', '=':
	default:
		return kind, text, 0, nil
	}
	if text == "-1" {
		return kind, "", 0, nil
	}
	if n, err = strconv.Atoi(text); err != nil || n < 0 || n > mostBytes { // Bound has refused such a length before
		return 0, "", 0, notRedis(fmt.Sprintf("the length %.40q", text))
	}
	switch kind {
	case '%':
		return kind, "", 2 * n, nil
	case '*', '>', '~':
		return kind, "", n, nil
	}
	b := make([]byte, n+2)
	if _, err := io.ReadFull(in, b); err != nil {
		return 0, "", 0, err
	}
	return kind, string(b[:n]), 0, nil
}
