package explore

import (
	"strings"
	"testing"
)

// jugs is the puzzle of the two jugs, of three and five litres.
type jugs struct{ forbidden uint8 }

type litres struct{ three, five uint8 }

func (jugs) Initial() litres { return litres{} }

func (jugs) Canonical(s litres) litres { return s }

func (jugs) Steps(s litres, visit func(Step, litres)) {
	visit(Step{Rule: 0}, litres{3, s.five})
	visit(Step{Rule: 1}, litres{s.three, 5})
	visit(Step{Rule: 2}, litres{0, s.five})
	visit(Step{Rule: 3}, litres{s.three, 0})
	over := min(s.three, 5-s.five)
	visit(Step{Rule: 4}, litres{s.three - over, s.five + over})
	over = min(s.five, 3-s.three)
	visit(Step{Rule: 5}, litres{s.three + over, s.five - over})
}

func (j jugs) Broken(_ litres, _ Step, after litres) string {
	if after.five == j.forbidden {
		return "forbidden"
	}
	return ""
}

func (jugs) Say(_ litres, step Step, _ litres) string {
	return [...]string{"fill 3", "fill 5", "empty 3", "empty 5", "3 to 5", "5 to 3"}[step.Rule]
}

func TestRunFindsAShortestWay(t *testing.T) {
	r := Run[litres](jugs{forbidden: 4}, 100)
	want := "fill 5; 5 to 3; empty 3; 5 to 3; fill 5; 5 to 3"
	if got := strings.Join(r.Trace, "; "); r.Broken != "forbidden" || got != want {
		t.Errorf("%q by %q, want %q", r.Broken, got, want)
	}
}

func TestRunVisitsEveryState(t *testing.T) {
	if r := Run[litres](jugs{forbidden: 9}, 100); !r.Full || r.States != 16 || r.Broken != "" {
		t.Errorf("%+v, want all 16 states", r)
	}
}

func TestRunSaysThatItWasCutOff(t *testing.T) {
	if r := Run[litres](jugs{forbidden: 9}, 10); r.Full {
		t.Errorf("%+v claims to be complete", r)
	}
}
