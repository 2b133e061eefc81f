package nodescript

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// The table of answers has the letters with which the scripts answer, and no others: a letter that no table has would
// be unreadable, and a reader that no script needs would read what no node says.
func TestTheTableOfAnswersIsThatOfTheScripts(t *testing.T) {
	// The letter X begins an error among several answers: see Parts. The part readers of release-shared contains an N.
	// It cannot be an answer there, because the part shares has found the field that is then missing.
	other := func(op Op, letter byte) bool { return letter == 'X' || letter == 'N' && op == ReleaseShared }
	scripts := NewScripts(Config{N: 3, MaxTTL: 10 * time.Second, Window: 250 * time.Millisecond, Sharded: true}, "run")
	letter := regexp.MustCompile(`'([A-Z])[a-z0-9]?'`)
	for op := range ops {
		said := map[byte]bool{}
		for _, m := range letter.FindAllStringSubmatch(scripts.texts[op], -1) {
			said[m[1][0]] = true
		}
		read := map[byte]bool{}
		for i, r := range readers[op] {
			if r != nil {
				read['A'+byte(i)] = true
			}
		}
		for _, l := range slices.Sorted(maps.Keys(said)) {
			if !read[l] && !other(op, l) {
				t.Errorf("the script %s answers %q, which the table does not read", op, l)
			}
		}
		for _, l := range slices.Sorted(maps.Keys(read)) {
			if !said[l] {
				t.Errorf("the table reads %q from %s, and its script does not say it:\n%s", l, op, strings.Join(letter.FindAllString(scripts.texts[op], -1), " "))
			}
		}
	}
}
