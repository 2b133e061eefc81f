package childprocess

import (
	"os"
	"strconv"
	"strings"
)

// members counts the group's processes in /proc. Both numbers are 0 if /proc does not show the processes.
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
		fields := stat(name)
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

// stat returns the fields state, parent, group and so on of a process. It returns nil if the process has ended.
func stat(pid string) []string {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	if err != nil {
		return nil
	}
	// The line is: pid (comm) state ppid pgrp …. The field comm may contain any character, even ")".
	return strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
}

// runsOn reports whether a process is not stopped. It returns false if /proc does not show the process.
func runsOn(pid int) bool {
	fields := stat(strconv.Itoa(pid))
	return len(fields) > 0 && fields[0] != "T" && fields[0] != "t"
}
