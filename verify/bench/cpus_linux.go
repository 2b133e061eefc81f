package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// processors lists the CPUs that this process may use at its start.
var processors = func() (list []int) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil
	}
	for cpu := 0; len(list) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			list = append(list, cpu)
		}
	}
	return list
}()

// pin makes a process run on some CPUs only. What it starts later does the same.
func pin(pid int, cpus []int) error {
	var only unix.CPUSet
	for _, cpu := range cpus {
		only.Set(cpu)
	}
	return eachThread(pid, func(thread int) error { return unix.SchedSetaffinity(thread, &only) })
}

// keepAwake pins this process to a CPU and gives it the class SCHED_IDLE. Then its spin stops this CPU from halting, and
// yields to every other process at once.
func keepAwake(cpu int) error {
	if err := pin(os.Getpid(), []int{cpu}); err != nil {
		return err
	}
	err := eachThread(os.Getpid(), func(thread int) error {
		return unix.SchedSetAttr(thread, &unix.SchedAttr{Policy: unix.SCHED_IDLE}, 0)
	})
	if err != nil {
		return fmt.Errorf("set the scheduling class SCHED_IDLE: %w", err)
	}
	return nil
}

// spin uses one CPU until the process is killed. A kernel with lazy preemption (PREEMPT_LAZY) does not interrupt a
// program for a process that another CPU wakes. So the loop enters the kernel, which then looks for such a process.
func spin() {
	for turns := 0; ; turns++ {
		if turns%1024 == 0 {
			_ = unix.Getppid()
		}
	}
}

// eachThread calls set for each thread of a process, twice: a thread that is not set yet may start another one.
func eachThread(pid int, set func(thread int) error) error {
	for range 2 {
		threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
		if err != nil {
			return err
		}
		for _, t := range threads {
			id, err := strconv.Atoi(t.Name())
			if err == nil {
				err = set(id)
			}
			if err != nil && !errors.Is(err, unix.ESRCH) { // the thread has ended
				return err
			}
		}
	}
	return nil
}

// processCPU returns the CPU time that a process has used, or 0 if it has ended.
func processCPU(pid int) time.Duration {
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^pid<<3|2), &t); err != nil { // the number of its clock: see clock_getcpuclockid(3)
		return 0
	}
	return time.Duration(t.Nano())
}
