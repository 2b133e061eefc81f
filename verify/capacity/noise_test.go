//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// quiet is the largest part of the machine's processors that other programs may use in a slice that counts.
const quiet = 0.2

// meter measures the part of the machine that other programs use.
type meter struct {
	at       time.Time
	all, own float64 // seconds of processor time
}

func startMeter() meter { return meter{time.Now(), machineCPU(), ownCPU()} }

// foreign returns the part that other programs have used since the start.
func (m meter) foreign() float64 {
	now := startMeter()
	cores := float64(runtime.NumCPU()) * now.at.Sub(m.at).Seconds()
	return max(0, (now.all-m.all-(now.own-m.own))/cores)
}

// ticks is USER_HZ, which is 100 on all platforms of Go.
const ticks = 100

// machineCPU returns the time that all processors were busy, or taken by the host.
func machineCPU() (seconds float64) {
	text, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(text), "\n")
	for i, f := range strings.Fields(line) { // cpu user nice system idle iowait irq softirq steal …
		if n, err := strconv.ParseFloat(f, 64); err == nil && i != 4 && i != 5 && i <= 8 {
			seconds += n / ticks
		}
	}
	return seconds
}

// ownCPU returns the time of this process and of its children: the servers and the workers.
func ownCPU() (seconds float64) {
	files, _ := filepath.Glob("/proc/[0-9]*/stat")
	self := strconv.Itoa(os.Getpid())
	for _, file := range files {
		text, _ := os.ReadFile(file)
		_, rest, _ := strings.Cut(string(text), ") ")
		f := strings.Fields(rest) // state ppid … ; utime and stime are the 12th and the 13th
		if len(f) < 13 || f[1] != self && filepath.Base(filepath.Dir(file)) != self {
			continue
		}
		for _, field := range f[11:13] {
			n, _ := strconv.ParseFloat(field, 64)
			seconds += n / ticks
		}
	}
	return seconds
}

// busiest is the largest part that other programs used in a slice of two seconds or more that counts. The clock of the
// kernel is too coarse for shorter ones.
var busiest float64

// noise describes it for the page.
func noise() string { return fmt.Sprintf("other programs used up to %.0f %% of it", 100*busiest) }
