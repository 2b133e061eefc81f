// Package fleet checks package job with real processes on real servers. The test binary starts again as the processes
// of a fleet. They write a line to one file at the begin and at the end of each run. The servers' clocks differ, and
// runners are killed by SIGKILL in the middle of their runs. Nodes restart without their data. Machines of holdfast
// cron are killed and restarted. The test of an hour also needs the program prometheus: make metrics-deps.
package fleet
