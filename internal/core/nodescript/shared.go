package nodescript

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Readers is the stored state of the readers of a name on a node. The node keeps it in a hash beside the [Record]. The
// field "seen" of the hash contains the tokens Seen and Leased. Each other field is an owner, with its token and its
// expiry.
type Readers struct {
	Seen   int64    // the highest token of a reader, µs; a writer's token must be higher
	Leased int64    // the highest token of a reader without an entry that may have had a lease
	Count  int      // the number of live readers; set only by inspect
	List   []Reader // the live readers, at most MostListed: by token, and then the claims; set only by inspect
}

// Reader is one reader of a name.
type Reader struct {
	Owner  string
	Token  int64 // 0 marks a claim
	Expiry int64 // µs of stamp time
}

const (
	// MostClaims is the number of readers at the front of a queue that get a claim at the same time.
	MostClaims = 16
	// MostListed is the largest number of readers that inspect lists.
	MostListed = 100
	// MostNamed is the largest number of readers that the answer to an acquire names.
	MostNamed = 10
	// namedSize limits the length of these names together, because an answer has at most 999 bytes.
	namedSize = 900
	// Marker is the value of the plain key while readers hold the name. Holdfast never treats it as foreign, even if
	// the readers are gone.
	Marker = "holdfast:readers"
)

// parseReaders reads the last part of the answer to inspect.
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

// countDigits is the number of digits in which scripts answer a number of readers.
const countDigits = 6

func parseCount(s string) (int, error) {
	if len(s) < countDigits {
		return 0, errors.New("number cut off")
	}
	n, err := strconv.ParseUint(s[:countDigits], 10, 31)
	return int(n), err
}

// PrintNamed returns the readers with these owners in the form of an answer to acquire. Models of a node use it.
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
