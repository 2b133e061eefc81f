package setnx

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// Any server may be at the address. Its answers are read as what they are, or are an error.
func TestAnswersAreReadOrRefused(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]answer{
		"G1790000000":        {verdict: granted, value: "1790000000"},
		"H250\n1790000000":   {verdict: held, left: 250 * time.Millisecond, value: "1790000000"},
		"Fstring -1\na\nb":   {verdict: foreign, kind: "string", left: -time.Millisecond, value: "a\nb"},
		"Fhash 9\n":          {verdict: foreign, kind: "hash", left: 9 * time.Millisecond},
		"R":                  {verdict: done},
		"R1790000000":        {verdict: done, value: "1790000000"},
		"L":                  {verdict: gone},
		"Lvalue of somebody": {verdict: gone, value: "value of somebody"},
	} {
		if got := parse(node.Reply{Value: value}); got != want {
			t.Errorf("%q is read as %+v, want %+v", value, got, want)
		}
	}
	for _, value := range []string{"", "X", "G", "G1\n2", "H", "H\n", "H1", "Hx\n1", "F", "Fstring\n", "Fstring x\ny", "\x00\n"} {
		if got := parse(node.Reply{Value: value}); got.verdict != silent || got.err == nil {
			t.Errorf("%q is read as %+v", value, got)
		}
	}
	if got := parse(node.Reply{Value: "H9223372036854775807\nx"}); got.left < 0 {
		t.Errorf("a time that does not fit is %v", got.left)
	}
	broken := errors.New("broken")
	if got := parse(node.Reply{Value: "G1", Err: broken}); got.verdict != silent || !errors.Is(got.err, broken) {
		t.Errorf("an error is read as %+v", got)
	}
}
