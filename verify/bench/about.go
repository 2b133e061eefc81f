package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
)

// about describes the machine and the versions of a result.
type about struct {
	date                  time.Time
	cores                 int
	cpu, kernel, redis    string
	goVersion, commit     string
	versions              []string
	loadBefore, loadAfter string
	took                  time.Duration
	missed                []error
}

// compared lists the modules whose versions the report contains.
var compared = []string{
	"github.com/redis/rueidis", "github.com/redis/go-redis/v9", "github.com/go-redsync/redsync/v4", "github.com/bsm/redislock",
}

func look() about {
	a := about{
		date: time.Now().UTC(), cores: runtime.NumCPU(), goVersion: runtime.Version(), loadBefore: loadAverage(),
		redis: output("redis-server", "--version"), kernel: output("uname", "-sr"), commit: output("git", "rev-parse", "--short", "HEAD"),
	}
	if v := strings.Fields(a.redis); len(v) > 2 {
		a.redis = "Redis " + strings.TrimPrefix(v[2], "v=")
	}
	// The bench measures the module in the parent folder, so only changes in that module count.
	if output("git", "status", "--porcelain", "--untracked-files=no", "--", "../..", ":!../bench", ":!../../docs") != "" {
		a.commit += " and changes that are not committed"
	}
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, after, ok := strings.Cut(string(text), "model name"); ok {
			line, _, _ := strings.Cut(after, "\n")
			a.cpu = strings.TrimSpace(strings.Trim(line, "\t :"))
		}
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, want := range compared {
			for _, d := range info.Deps {
				if d.Path == want {
					a.versions = append(a.versions, d.Path+" "+d.Version)
				}
			}
		}
	}
	return a
}

func output(name string, args ...string) string {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

func loadAverage() string {
	text, _ := os.ReadFile("/proc/loadavg")
	if f := strings.Fields(string(text)); len(f) > 0 {
		return f[0]
	}
	return "?"
}

func (a about) lines() []string {
	lines := []string{
		fmt.Sprintf("Machine: %d cores (%s), %s, %s, %s.", a.cores, a.cpu, a.kernel, a.redis, a.goVersion),
		fmt.Sprintf("Versions: %s; rueidislock is part of rueidis.", strings.Join(a.versions, ", ")),
		fmt.Sprintf("Holdfast: commit %s.", a.commit),
		fmt.Sprintf("It took %s; load average %s before, %s after.", a.took.Round(time.Second), a.loadBefore, a.loadAfter),
	}
	for _, err := range a.missed {
		lines = append(lines, "**Missing**: "+strings.ReplaceAll(err.Error(), "\n", "; ")+".")
	}
	return lines
}
