package clock

import (
	"os"
	"os/exec"
	"testing"
	"time"
)

func TestTheAgeOfAProcess(t *testing.T) {
	c := exec.Command("sleep", "60")
	before := time.Now()
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	time.Sleep(50 * time.Millisecond)
	age, known := AgeOf(c.Process.Pid, "redis", "sleep")
	if least := 20 * time.Millisecond; !known || age < least || age > time.Since(before)+20*time.Millisecond {
		t.Errorf("the age is %s, known %v; it started %s ago", age, known, time.Since(before))
	}
	for what, pid := range map[string]int{"no process": 1 << 30, "another program": os.Getpid()} {
		if age, known := AgeOf(pid, "redis"); known {
			t.Errorf("%s has the age %s", what, age)
		}
	}
}
