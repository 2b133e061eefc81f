package docs

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// go.work joins every module of the repository. They require each other at one version, which scripts/set-version.sh
// writes. No go.mod has a replace: go install refuses the command if its go.mod has one.
func TestModulesRequireEachOtherAtOneVersion(t *testing.T) {
	t.Parallel()
	work, err := os.ReadFile("go.work")
	if err != nil {
		t.Fatal(err)
	}
	own := regexp.MustCompile(`(?m)` + regexp.QuoteMeta(module) + `(/\S+)? (v\S+)`)
	var versions []string
	found := 0
	err = filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || d.Name() == "node_modules" || strings.HasPrefix(d.Name(), ".") && path != ".") {
			return filepath.SkipDir
		}
		if d.Name() != "go.mod" {
			return nil
		}
		found++
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		dir := "./" + filepath.ToSlash(filepath.Dir(path))
		if dir == "./." {
			dir = "."
		}
		if !regexp.MustCompile(`(?m)^\t` + regexp.QuoteMeta(dir) + `$`).Match(work) {
			t.Errorf("go.work does not use %s", dir)
		}
		if regexp.MustCompile(`(?m)^replace\b`).Match(text) {
			t.Errorf("%s has a replace", path)
		}
		for _, m := range own.FindAllSubmatch(text, -1) {
			versions = append(versions, string(m[2]))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range own.FindAllSubmatch(work, -1) {
		versions = append(versions, string(m[2]))
	}
	slices.Sort(versions)
	if all := slices.Compact(slices.Clone(versions)); len(all) != 1 {
		t.Errorf("the modules require each other at the versions %q; run scripts/set-version.sh", all)
	}
	if found < 10 || len(versions) < 20 {
		t.Errorf("only %d modules with %d requirements found: is the pattern still right?", found, len(versions))
	}
}
