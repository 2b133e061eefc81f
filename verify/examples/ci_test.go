package check

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// Deployments at the same time run one after the other, and a deployment with an old token changes nothing.
func TestCI(t *testing.T) {
	t.Parallel()
	workflow := documents(t, "../../examples/ci/deploy.yaml")[0]
	step := at(t, workflow, "jobs", "deploy", "steps", 2)
	if at(t, step, "env", "HOLDFAST_NODES") != "${{ secrets.HOLDFAST_NODES }}" {
		t.Error("the step has no nodes")
	}
	command, state, env := strings.Fields(at(t, step, "run").(string)), t.TempDir(), nodes(t)
	env = append(env, "STATE="+state)
	const n = 6
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() {
			if _, code := run(t, "../../examples/ci", append(env, fmt.Sprint("VERSION=v", i)), command...); code != 0 {
				t.Errorf("deployment %d: exit code %d", i, code)
			}
		})
	}
	wait.Wait()
	text, _ := os.ReadFile(filepath.Join(state, "log"))
	lines := strings.Fields(string(text))
	if len(lines) != 4*n {
		t.Fatalf("log %q", lines)
	}
	for i := 0; i < len(lines); i += 4 { // begin vI end vI
		if lines[i] != "begin" || lines[i+2] != "end" || lines[i+1] != lines[i+3] {
			t.Fatalf("deployments overlap: %q", lines)
		}
	}
	last, _ := os.ReadFile(filepath.Join(state, "version"))
	if _, code := run(t, "../../examples/ci", append(env, "VERSION=old", "HOLDFAST_FENCE=1"), "./deploy.sh"); code != 1 {
		t.Errorf("a deployment with an old token: exit code %d", code)
	}
	if now, _ := os.ReadFile(filepath.Join(state, "version")); string(now) != string(last) {
		t.Errorf("a deployment with an old token deployed %s", now)
	}
}
