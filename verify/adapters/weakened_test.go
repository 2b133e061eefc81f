package check

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// weakened is one line of an adapter without its safety mechanism, and the test that must fail.
type weakened struct {
	name, module, file, old, new, check string
}

var weakenings = []weakened{
	{"the locker takes no tick", "gocron", "locker.go", "begun, err := k.spec.BeginWithin(ctx, l.client, tick, ",
		"begun, err := k.spec.BeginWithin(ctx, l.client, tick.Add(time.Duration(time.Now().Unix()%1000)), ", "check TestEachTickRunsOnce/locker"},
	{"a task runs without its lock", "gocron", "task.go", "return fmt.Errorf(\"job %q: %w\", name, ErrNotLocked)", "return fn(ctx, job.Tick{})",
		"TestATaskEndsWithItsLock"},
	{"two tasks run under one lock", "gocron", "task.go", "if t == nil || t.taken {", "if t == nil {", "TestOneTaskRunsUnderALock"},
	{"a task goes on after its lock", "gocron", "task.go", "fn.Until(ctx)(t.Context(), ", "fn.Until(ctx)(context.WithoutCancel(t.Context()), ",
		"TestATaskEndsWithItsLock"},
	{"a run that gocron stopped has failed", "gocron", "task.go", "fn.Until(ctx)(t.Context(), ", "fn(t.Context(), ",
		"TestATaskEndsWithItsScheduler"},
	{"a task of another kind that gocron stopped is done", "gocron", "locker.go", "if !t.taken && ctx.Err() != nil {", "if false {",
		"TestATaskEndsWithItsScheduler"},
	{"a task hides that its lock was lost", "gocron", "task.go", "err == nil && t.Context().Err() != nil", "false", "TestATaskEndsWithItsLock"},
	{"an old run takes the lock of the next one away", "gocron", "locker.go", "if t.locker.turns[t.name] == t {", "if true {",
		"check TestAnOldRunLeavesTheNextOneItsLock"},
	{"a leader's task goes on after a loss", "gocron", "elector.go", "work(lease.Context(), job.Tick{})", "work(context.Background(), job.Tick{})",
		"TestATaskEndsWithTheLeadership"},
	{"a leader's task does not look at the clock", "gocron", "elector.go", "work(lease.Context(), job.Tick{})",
		"work(func() context.Context { c, _ := context.WithCancel(lease.Context()); return c }(), job.Tick{})", "TestATaskLooksAtTheClock"},
	{"another task takes the turn that a task has begun", "gocron", "locker.go", "wanted: tick, taken: taken}", "wanted: tick}",
		"TestATurnBelongsToTheTaskThatBeganIt"},
	{"a task runs without leadership", "gocron", "elector.go", "if err != nil {\n\t\t\te.mu.Unlock()\n\t\t\treturn err", "if err != nil {\n\t\t\te.mu.Unlock()\n\t\t\treturn fn(ctx)",
		"TestAHopelessCampaign"},
	{"a leader resigns before its tasks have ended", "gocron", "elector.go", "e.mu.Unlock()\n\te.tasks.Wait()", "e.mu.Unlock()", "TestOneProcessLeads"},
	{"a lost leader leads", "gocron", "elector.go", "e.set(nil, context.Cause(lease.Context()))", "<-ctx.Done()", "TestATaskEndsWithTheLeadership"},
	{"the wrapper takes no tick", "robfigcron", "wrapper.go", "t, err = r.spec.BeginWithin(ctx, r.client, wanted, ",
		"t, err = r.spec.BeginWithin(ctx, r.client, wanted.Add(time.Duration(time.Now().Unix()%1000)), ", "check TestEachTickRunsOnce/robfig"},
	{"a taken tick runs", "robfigcron", "wrapper.go", "log.Debug(\"job not run here\", \"job\", r.spec.Name, \"error\", err)\n\t\treturn", "_ = fn(context.Background(), job.Tick{})\n\t\treturn",
		"TestAWrappedJobRunsOncePerTick"},
	{"a run goes on after its lock", "robfigcron", "wrapper.go", "err = fn(t.Context(), t.Tick())", "err = fn(context.WithoutCancel(t.Context()), t.Tick())",
		"TestARunEndsWithItsLock"},
	{"a job runs outside of its wrapper", "robfigcron", "wrapper.go", "slog.Default().Error(", "_ = f(context.Background(), job.Tick{})\n\tslog.Default().Error(",
		"TestOtherJobs"},
	{"a run takes the place of the tick that it repeats", "robfigcron", "wrapper.go", "if t.Tick().Time.Before(wanted) && ", "if false && ",
		"TestARunRepeatsAnEarlierTickFirst"},
	{"a task takes the place of the tick that it repeats", "gocron", "task.go", "for t.Tick().Time.Before(t.wanted) && ", "for false && ",
		"TestATaskRepeatsAnEarlierTickFirst"},
	{"each machine counts @every from its own start", "robfigcron", "add.go", "if every, ok := s.(cron.ConstantDelaySchedule); ok {", "if every, ok := s.(cron.ConstantDelaySchedule); ok && false {",
		"TestEveryIsTheSameOnAllMachines"},
}

// Each safety mechanism of the adapters has a test that fails without it.
func TestEachWeakenedAdapterIsNoticed(t *testing.T) {
	if testing.Short() {
		t.Skip("go test without -short weakens the adapters; make adapters does so")
	}
	for _, w := range weakenings {
		t.Run(w.name, func(t *testing.T) {
			path, err := filepath.Abs(filepath.Join("../../adapters", w.module, w.file))
			if err != nil {
				t.Fatal(err)
			}
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(text), w.old); n != 1 {
				t.Fatalf("%s has %d times %q, want one", path, n, w.old)
			}
			dir := t.TempDir()
			replaced, overlay := filepath.Join(dir, w.file), filepath.Join(dir, "overlay.json")
			if err := os.WriteFile(replaced, []byte(strings.Replace(string(text), w.old, w.new, 1)), 0o600); err != nil {
				t.Fatal(err)
			}
			list, err := json.Marshal(map[string]map[string]string{"Replace": {path: replaced}})
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(overlay, list, 0o600); err != nil {
				t.Fatal(err)
			}
			module, check := w.module, w.check
			if elsewhere, name, ok := strings.Cut(w.check, " "); ok {
				module, check = elsewhere, name
			}
			said, err := exec.Command("go", "-C", filepath.Join("../../adapters", module), "test", "-short", "-count=1", "-vet=off", "-timeout=30s", "-overlay", overlay, "-run", "^"+strings.ReplaceAll(check, "/", "$/^")+"$", ".").CombinedOutput()
			if top, _, _ := strings.Cut(check, "/"); err == nil || !strings.Contains(string(said), "--- FAIL: "+top) && !strings.Contains(string(said), "panic: test timed out") {
				t.Errorf("%s does not fail: %v\n%s", check, err, said)
			}
		})
	}
}
