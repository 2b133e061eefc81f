package nodescript

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Readers is what a node stores about the readers of a name, beside its [Record]. It is a hash. Its field "seen" has the
// first two tokens, and each other field is an owner, with its token and expiry.
type Readers struct {
	Seen   int64    // the highest token of a reader, µs; a writer's token must exceed it
	Leased int64    // the highest token that may have been a reader's lease and has no entry
	Count  int      // the number of live readers; only in the answer to inspect
	List   []Reader // the live readers, at most MostListed: the lowest token first, claims last; only in the answer to inspect
}

// Reader is one reader of a name.
type Reader struct {
	Owner  string
	Token  int64 // 0 marks a claim
	Expiry int64 // µs of stamp time
}

const (
	// MostClaims is how many readers at the front of a queue get a claim at once.
	MostClaims = 16
	// MostListed is how many readers inspect lists.
	MostListed = 100
	// MostNamed is how many readers the answer to an acquire names.
	MostNamed = 10
	// namedSize limits the length of these names, because an answer has at most 999 bytes.
	namedSize = 900
	// Marker is the value of a plain key while readers hold its name. It is not foreign, also if it outlives them.
	Marker = "holdfast:readers"
)

// parseReaders reads the end of the answer to inspect.
func parseReaders(s string) (r Readers, err error) {
	bad := errors.New("readers cut off")
	if len(s) < 2*digits+countDigits {
		return r, bad
	}
	if r.Seen, err = parseMicros(s[:digits]); err != nil {
		return r, err
	}
	if r.Leased, err = parseMicros(s[digits : 2*digits]); err != nil {
		return r, err
	}
	if r.Count, err = parseCount(s[2*digits:]); err != nil {
		return r, err
	}
	const head = 3 + 2*digits
	for s = s[2*digits+countDigits:]; s != ""; {
		if len(s) < head {
			return r, bad
		}
		n, err := strconv.ParseUint(s[:3], 10, 31)
		if err != nil || head+int(n) > len(s) {
			return r, bad
		}
		one := Reader{Owner: s[head : head+n]}
		if one.Token, err = parseMicros(s[3 : 3+digits]); err != nil {
			return r, err
		}
		if one.Expiry, err = parseMicros(s[3+digits : head]); err != nil {
			return r, err
		}
		r.List, s = append(r.List, one), s[head+n:]
	}
	return r, nil
}

// countDigits is the number of digits of a number of readers.
const countDigits = 6

func parseCount(s string) (int, error) {
	if len(s) < countDigits {
		return 0, errors.New("number cut off")
	}
	n, err := strconv.ParseUint(s[:countDigits], 10, 31)
	return int(n), err
}

// PrintNamed returns the readers with these owners, as the answer to an acquire names them. Models of a node use it.
func PrintNamed(owners []string) string {
	var list []string
	size := 0
	for i, owner := range owners {
		if i == 0 || i < MostNamed && size+len(owner) < namedSize {
			list = append(list, owner)
			size += len(owner) + 1
		}
	}
	return fmt.Sprintf("%0*d", countDigits, min(len(owners), 999999)) + strings.Join(list, "\n")
}
