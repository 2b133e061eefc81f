//go:build race

package sim

// raced says that the race detector runs: everything is slower, and the scheduler is random.
const raced = true
