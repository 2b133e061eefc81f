package driver

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Answer is one message that a server sends on a subscription: an error, or a list of words.
type Answer struct {
	Err   string   // text of an error, with its "-"; "" if the message is not an error
	Words []string // words of a push or an array; nil if the message contains nested arrays or is of another type
}

// ReadAnswer reads one message, in RESP2 or RESP3. The connection must come from [Bound], which limits the lengths.
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

// readElement reads one line. If the line announces a string, readElement also reads this string. n is the number of
// elements that the line announces.
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
	if n, err = strconv.Atoi(text); err != nil || n < 0 || n > mostBytes { // Bound has already refused such a length
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
