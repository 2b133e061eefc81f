package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// within is the longest time of a check that sets no other limit.
const within = 60 * time.Second

// bench builds and runs checks. dir contains its builds.
type bench struct {
	root, dir string
	built     int
	plain     map[string]string        // test binaries of the unchanged tree, by package
	passed    map[string]time.Duration // checks that pass on the unchanged tree
}

func newBench(root, dir string) *bench {
	return &bench{root: root, dir: dir, plain: map[string]string{}, passed: map[string]time.Duration{}}
}

// lay writes a weakened file, and the overlay that replaces the original with it.
func (b *bench) lay(m mutant) (overlay string, err error) {
	text, err := m.apply(b.root)
	if err != nil {
		return "", err
	}
	b.built++
	changed := filepath.Join(b.dir, fmt.Sprint(b.built, "-", filepath.Base(m.file)))
	if err := os.WriteFile(changed, []byte(text), 0o600); err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(b.root, m.file): changed}})
	if err != nil {
		return "", err
	}
	overlay = filepath.Join(b.dir, fmt.Sprint(b.built, "-overlay.json"))
	return overlay, os.WriteFile(overlay, list, 0o600)
}

// build makes the test binary of a package, with an overlay if one is named. It is separate from the run, so that a
// compile error does not look like a failed check.
func (b *bench) build(ctx context.Context, pkg, overlay string) (binary string, err error) {
	b.built++
	binary = filepath.Join(b.dir, fmt.Sprint(b.built, ".test"))
	args := []string{"test", "-c", "-vet=off", "-o", binary}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	c := exec.CommandContext(ctx, "go", append(args, "./"+pkg)...)
	c.Dir = b.root
	if out, err := c.CombinedOutput(); err != nil {
		return "", fmt.Errorf("does not compile: %w\n%s", err, out)
	}
	return binary, nil
}

// result is the end of a check.
type result struct {
	failed bool // the check failed by itself, in time
	output string
	took   time.Duration
}

// run runs a mutant's check in a test binary.
func (b *bench) run(ctx context.Context, binary string, m mutant) (result, error) {
	pattern := "^" + strings.ReplaceAll(m.check, "/", "$/^") + "$"
	// The binary's own timeout kills a hanging check and prints all goroutines. It does not count as a failure: the
	// check has no limit of its own, and cannot say what is wrong.
	allowed := cmp.Or(m.within, within)
	args := append([]string{"-test.run", pattern, "-test.count=1", "-test.v", "-test.timeout", allowed.String()}, strings.Fields(m.args)...)
	bounded, cancel := context.WithTimeout(ctx, allowed+10*time.Second)
	defer cancel()
	c := exec.CommandContext(bounded, binary, args...)
	c.Dir = filepath.Join(b.root, m.pkg)
	c.WaitDelay = time.Second
	start := time.Now()
	out, err := c.CombinedOutput()
	r := result{output: string(out), took: time.Since(start)}
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return r, ctx.Err()
	case bounded.Err() != nil, strings.Contains(r.output, "panic: test timed out"):
		return r, fmt.Errorf("no verdict within %s", allowed)
	case err == nil && !strings.Contains(r.output, "--- PASS: "+m.test()):
		return r, fmt.Errorf("there is no test %s in ./%s", m.check, m.pkg)
	case errors.As(err, &exit):
		r.failed = true
	case err != nil:
		return r, err
	}
	return r, nil
}

// builds contains the test binaries of a mutant's check.
type builds struct {
	mutant
	plain, weak string // without and with the weakening
	err         error  // the reason why one of them is missing
}

// ahead builds the checks of mutants while the caller runs earlier ones, because a check mostly waits. It is ahead by
// two mutants at most. The channel closes after the last mutant, or when ctx ends.
func (b *bench) ahead(ctx context.Context, list []mutant) <-chan builds {
	ready := make(chan builds, 1)
	go func() {
		defer close(ready)
		for _, m := range list {
			next := b.buildBoth(ctx, m)
			select {
			case ready <- next:
			case <-ctx.Done():
				return
			}
		}
	}()
	return ready
}

// buildBoth builds a mutant's check. The binary without a weakening is built once per package.
func (b *bench) buildBoth(ctx context.Context, m mutant) builds {
	r := builds{mutant: m}
	if r.plain = b.plain[m.pkg]; r.plain == "" {
		if r.plain, r.err = b.build(ctx, m.pkg, ""); r.err != nil {
			return r
		}
		b.plain[m.pkg] = r.plain
	}
	r.weak, r.err = b.buildWeak(ctx, m)
	return r
}

// buildWeak builds a mutant's check with the weakening.
func (b *bench) buildWeak(ctx context.Context, m mutant) (binary string, err error) {
	overlay, err := b.lay(m)
	if err != nil {
		return "", err
	}
	return b.build(ctx, m.pkg, overlay)
}

// asItIs runs a mutant's check on the unchanged tree, once for all mutants with this check.
func (b *bench) asItIs(ctx context.Context, m builds) error {
	key := m.pkg + " " + m.check + " " + m.args
	if _, done := b.passed[key]; done {
		return nil
	}
	r, err := b.run(ctx, m.plain, m.mutant)
	if err == nil && r.failed {
		err = errors.New("it fails\n" + r.output)
	}
	if err != nil {
		return fmt.Errorf("the check %s without any weakening: %w", m.check, err)
	}
	b.passed[key] = r.took
	return nil
}

// kill runs a mutant's check with the weakening. The error says why the mutant survived.
func (b *bench) kill(ctx context.Context, m builds) (r result, line string, err error) {
	defer os.Remove(m.weak)
	if r, err = b.run(ctx, m.weak, m.mutant); err != nil {
		return r, "", err
	}
	if !r.failed {
		return r, "", fmt.Errorf("SURVIVED: %s passes", m.check)
	}
	says := regexp.MustCompile(m.says)
	for l := range strings.Lines(r.output) {
		if says.MatchString(l) {
			return r, strings.TrimSpace(l), nil
		}
	}
	return r, "", fmt.Errorf("%s fails, but does not say %q:\n%s", m.check, m.says, tail(r.output, 4000))
}

func tail(s string, n int) string {
	if len(s) > n {
		return "…" + s[len(s)-n:]
	}
	return s
}
