package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ownCPU returns the CPU time that this process has used.
func ownCPU() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// machineCPU returns the CPU time that the machine has used since its start, plus the time that its host took from it
// (steal). It returns 0 without /proc/stat.
func machineCPU() time.Duration {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(line) // cpu user nice system idle iowait irq softirq steal …
	ticks := 0
	for i, f := range fields {
		if n, err := strconv.Atoi(f); err == nil && i != 4 && i != 5 && i <= 8 {
			ticks += n
		}
	}
	return time.Duration(ticks) * time.Second / 100 // USER_HZ is 100 on all platforms of Go
}
