package child

import (
	"os"
	"strconv"
	"strings"
)

// members counts the group's processes in /proc. Both numbers are 0 where /proc does
// not show them.
func (g group) members() (running, zombies int) {
	dir, err := os.Open("/proc")
	if err != nil {
		return 0, 0
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if name[0] < '0' || name[0] > '9' {
			continue
		}
		stat, err := os.ReadFile("/proc/" + name + "/stat")
		if err != nil {
			continue // it ended meanwhile
		}
		// pid (comm) state ppid pgrp …, and comm may contain anything, also ")".
		_, rest, ok := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
		if !ok {
			continue
		}
		fields := strings.Fields(rest)
		if len(fields) < 3 || fields[2] != strconv.Itoa(int(g)) {
			continue
		}
		if fields[0] == "Z" || fields[0] == "X" {
			zombies++
		} else {
			running++
		}
	}
	return running, zombies
}
