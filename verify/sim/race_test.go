//go:build race

package sim

// raced says that the race detector runs. The tests are slower then, and the scheduler is random.
const raced = true
