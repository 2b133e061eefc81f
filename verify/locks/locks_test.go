package locks

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const document = "docs/ARCHITECTURE.md"

// levels returns the level of each mutex in the list of the document.
func levels(t *testing.T, root string) map[string]int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, document))
	if err != nil {
		t.Fatal(err)
	}
	_, list, ok := strings.Cut(string(text), "\n## The order of mutexes\n")
	if !ok {
		t.Fatalf("%s has no section \"The order of mutexes\"", document)
	}
	list, _, _ = strings.Cut(list, "\n## ")
	all := map[string]int{}
	for i, item := range regexp.MustCompile(`(?m)^\d+\. `).Split(list, -1)[1:] {
		for _, name := range regexp.MustCompile("`(\\w+\\.\\w+\\.\\w+)`").FindAllStringSubmatch(item, -1) {
			all[name[1]] = i + 1
		}
	}
	return all
}

// TestTheListOfMutexesIsComplete compares the document with the fields of the library.
func TestTheListOfMutexesIsComplete(t *testing.T) {
	root := root(t)
	_, mutexes := overlaid(t, root, t.TempDir())
	level := levels(t, root)
	for _, m := range mutexes {
		if level[m] == 0 {
			t.Errorf("%s does not list the mutex %s", document, m)
		}
	}
	for m := range level {
		if !slices.Contains(mutexes, m) {
			t.Errorf("%s lists %s, which is no mutex of the library", document, m)
		}
	}
}

// TestMutexesAreTakenInOneOrder runs tests of the library with mutexes that record. A goroutine that holds a mutex may
// take only those of higher levels.
func TestMutexesAreTakenInOneOrder(t *testing.T) {
	if testing.Short() {
		t.Skip("make verify runs it: it builds the library anew, and takes a minute")
	}
	root, dir := root(t), t.TempDir()
	flag, mutexes := overlaid(t, root, dir)
	level, record := levels(t, root), filepath.Join(dir, "record")
	for _, args := range [][]string{
		{"./internal/core/renewal", "./internal/core/waiting", "./internal/core/fanout"},
		{"./verify/sim", "-run", "^TestPromisesHoldInSimulatedWorlds$", "-sim.seed", "7"},
	} {
		cmd := exec.Command("go", append([]string{"test", "-count=1", "-short", "-vet=off", "-ldflags=-s", "-overlay", flag}, args...)...)
		cmd.Dir = root
		cmd.Env = append(os.Environ(), "HOLDFAST_LOCKORDER="+record)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	pairs := strings.Split(strings.TrimSpace(string(text)), "\n")
	slices.Sort(pairs)
	pairs = slices.Compact(pairs)
	for _, pair := range pairs {
		if outer, inner, _ := strings.Cut(pair, " "); level[inner] <= level[outer] {
			t.Errorf("a goroutine took %s (level %d) while it held %s (level %d): see %s", inner, level[inner], outer, level[outer], document)
		}
	}
	for _, must := range []string{"waiting.bidder.mu waiting.Inbox.mu", "holdfast.handle.mu renewal.Lease.mu"} {
		if !slices.Contains(pairs, must) {
			t.Errorf("of %d pairs none is %q: the mutexes do not record", len(pairs), must)
		}
	}
	t.Logf("%d mutexes, %d pairs", len(mutexes), len(pairs))
}

func root(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return root
}

func overlaid(t *testing.T, root, dir string) (flag string, mutexes []string) {
	t.Helper()
	flag, mutexes, err := overlay(root, dir)
	if err != nil {
		t.Fatal(err)
	}
	return flag, mutexes
}
