package main

import (
	"errors"
	"strings"
	"testing"
)

// A slice fails in the third repetition. The results of all systems then lack that repetition, and the report says so.
func TestWholeRepetitionsAreKeptWhereASliceFails(t *testing.T) {
	r := &result{samples: map[string][]sample{
		holdfastRueidis: {{Rate: 1}, {Rate: 2}, {Rate: 3}},
		rueidisLock:     {{Rate: 4}, {Rate: 5}},
	}}
	kept := firstOf([]*result{r}, 2)
	if len(kept) != 1 || len(r.samples[holdfastRueidis]) != 2 || len(r.samples[rueidisLock]) != 2 {
		t.Errorf("kept %v", r.samples)
	}
	if firstOf([]*result{r}, 0) != nil {
		t.Error("a result without a repetition")
	}
	said := strings.Join(about{missed: []error{errors.Join(errLate, errors.New("and more"))}}.lines(), "\n")
	if !strings.Contains(said, "**Missing**: "+errLate.Error()+"; and more.") {
		t.Error(said)
	}
}

// Each system and each limit runs for a moment. A change of the scripts may break a limit, which speaks to them
// directly.
func TestEverySystemCanBeMeasured(t *testing.T) {
	if err := command([]string{"distinct", "-quick", "-reps", "1", "-slice", "100ms", "-only", "^distinct-.n-(1|64)g$"}); err != nil {
		t.Error(err)
	}
}
