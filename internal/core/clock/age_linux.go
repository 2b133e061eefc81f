package clock

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// ticksPerSecond is the unit of times in /proc: USER_HZ, which is the same on all architectures that Go supports.
const ticksPerSecond = 100

// AgeOf returns the time since a process of this machine started, by the clock that runs from the boot on and never
// leaps. The name of its program must begin with one of names: the number may be of another container, where this
// process has another one. known is false if it cannot be found out.
func AgeOf(pid int, names ...string) (age time.Duration, known bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	open, end := strings.IndexByte(string(text), '('), strings.LastIndexByte(string(text), ')')
	now, ok := boottime()
	if err != nil || open < 0 || end < open || !ok {
		return 0, false
	}
	fields := strings.Fields(string(text[end+1:])) // from the third on, see proc(5)
	const starttime = 22 - 3
	if len(fields) <= starttime {
		return 0, false
	}
	ticks, err := strconv.ParseInt(fields[starttime], 10, 64)
	for _, name := range names {
		if err == nil && strings.HasPrefix(string(text[open+1:end]), name) {
			return time.Duration(now) - time.Duration(ticks)*time.Second/ticksPerSecond, true
		}
	}
	return 0, false
}
