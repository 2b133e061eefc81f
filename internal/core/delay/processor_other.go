//go:build !unix

package delay

// processorTime returns a time that grows as if this process always had a processor: the host does not tell it.
func processorTime() int64 { return now() }
