package main

import (
	"errors"
	"os"
	"path/filepath"
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
	if err := command([]string{"distinct", "-quick", "-reps", "1", "-retakes", "0", "-slice", "50ms", "-only", "^distinct-.n-(1|64)g$"}); err != nil {
		t.Error(err)
	}
}

// The report of the command all has a lone caller in each state, and the demands for each.
func TestAllMeasuresALoneCallerInEachState(t *testing.T) {
	folder := t.TempDir()
	few := holdfastRueidis + "|" + redsyncRueidis + "|" + limitScripts
	if err := command([]string{"all", "-quick", "-reps", "1", "-retakes", "0", "-slice", "50ms", "-only", "^distinct-1n-1g$", "-systems", few, "-out", folder}); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	report, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"- CPUs awake: ",
		"## Distinct names, 1 node, 1 goroutine\n",
		"## Distinct names, 1 node, 1 goroutine, CPUs as they are\n",
		"## Distinct names, 1 node, 1 goroutine, a delay of 300µs each way\n",
		"| distinct-1n-1g | ", "| distinct-1n-1g-asis | ", "| distinct-1n-1g-300us | ",
	} {
		if !strings.Contains(string(report), want) {
			t.Errorf("%q is missing in the report:\n%s", want, report)
		}
	}
}

// One workload of each kind that starts several processes runs for a moment, and a lone caller in a state that only
// flags ask for.
func TestEachKindOfWorkloadCanBeMeasured(t *testing.T) {
	for _, args := range []string{
		"hot -slice 50ms -only ^hot-1n-0s$",
		"handoffs -slice 500ms -only ^handoffs-1n-2w$",
		"distinct -slice 50ms -only ^distinct-1n-1g$ -cpus asis -delay 1ms",
	} {
		if len(processors) > 1 {
			args += " -pin"
		}
		if err := command(append(strings.Fields(args), "-quick", "-reps", "1", "-retakes", "0", "-systems", holdfastRueidis)); err != nil {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestABadStateIsAnErrorThatSaysWhatToDo(t *testing.T) {
	for _, c := range []struct{ flag, value, want string }{
		{"-cpus", "fast", "it must be awake or asis"},
		{"-delay", "1s", "it must be from 0 to 100ms"},
		{"-delay", "-1ms", "it must be from 0 to 100ms"},
		{"-delay", "short", "it must be from 0 to 100ms"},
	} {
		err := command([]string{"distinct", c.flag, c.value})
		if err == nil || !strings.Contains(err.Error(), c.value) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %v", c.flag, c.value, err)
		}
	}
}
