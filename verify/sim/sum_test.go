package sim

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var (
	flagTally = flag.String("sim.tally", "", "write what happened to this file")
	flagSum   = flag.String("sim.sum", "", "print the sum of such files, separated by commas")
)

// save writes a tally to a file. Another process adds the tallies of several processes.
func save(file string, t *Tally) error {
	text, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o600)
}

func sum(files []string) (all Tally, err error) {
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return all, err
		}
		var t Tally
		if err := json.Unmarshal(text, &t); err != nil {
			return all, fmt.Errorf("%s: %w", f, err)
		}
		all.Add(&t)
	}
	return all, nil
}

// Several processes simulate together, and scripts/sim.sh prints the sum of all their events.
func TestTalliesAreSummed(t *testing.T) {
	if *flagSum != "" {
		all, err := sum(strings.Split(*flagSum, ","))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Printf("all parts together: %s", &all)
		if missing := all.Missing(); len(missing) > 0 && all.Attempts >= 200_000 { // fewer attempts cannot have all kinds
			t.Errorf("of some kinds there was none: %q", missing)
		}
		return
	}
	var one, two Tally
	one.Attempts, one.Outcomes[Lost], one.LongestM, one.Faults[Tear] = 3, 5, 40, 1
	two.Attempts, two.Outcomes[Lost], two.LongestM, two.Looks = 4, 6, 30, 2
	files := []string{filepath.Join(t.TempDir(), "one"), filepath.Join(t.TempDir(), "two")}
	for i, tally := range []*Tally{&one, &two} {
		if err := save(files[i], tally); err != nil {
			t.Fatal(err)
		}
	}
	all, err := sum(files)
	if err != nil || all.Attempts != 7 || all.Outcomes[Lost] != 11 || all.LongestM != 40 || all.Faults[Tear] != 1 || all.Looks != 2 {
		t.Errorf("%+v, %v", all, err)
	}
	if _, err := sum([]string{files[0] + "?"}); err == nil {
		t.Error("a file that is not there is taken for a tally of nothing")
	}
}
