// Package jobmetrics reads the states of jobs for a system of metrics. Packages promholdfast and otelholdfast use it, and
// a program can use it for another system.
//
//	var jobs jobmetrics.Reader
//	err := jobs.Set(client, spec) // the jobs that this process runs
//	…
//	for _, j := range jobs.Read(ctx) {
//		gauge(j.Name, j.Success)
//	}
//
// The nodes store the counts and times of a job for the whole fleet. So every process that reads a job reads the same
// numbers, and a program that adds them up across processes counts each run several times.
package jobmetrics
