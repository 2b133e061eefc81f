package setnx

import "fmt"

// Unit is the unit of the time that this client writes. All units are read.
type Unit uint8

// The units that old clients write.
const (
	Seconds      Unit = iota // 1790000000: the redis.io documents
	Milliseconds             // 1790000000123
	FloatSeconds             // 1790000000.123: time.time() of Python, Time.now.to_f of Ruby
)

// String returns the unit's name.
func (u Unit) String() string {
	switch u {
	case Seconds:
		return "Seconds"
	case Milliseconds:
		return "Milliseconds"
	case FloatSeconds:
		return "FloatSeconds"
	}
	return fmt.Sprintf("Unit(%d)", uint8(u))
}

// code is the unit in the arguments of a script.
func (u Unit) code() string { return [...]string{"s", "ms", "f"}[u] }
