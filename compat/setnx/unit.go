package setnx

import (
	"fmt"
	"strconv"
	"strings"
)

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

// value returns the value of a lock that ends after this Unix time in ms, as the scripts write it.
func (u Unit) value(ms int64) string {
	switch u {
	case Seconds:
		return strconv.FormatInt(ms/1000+1, 10)
	case Milliseconds:
		return strconv.FormatInt(ms+1, 10)
	}
	return fmt.Sprintf("%d.%03d", (ms+1)/1000, (ms+1)%1000)
}

// end returns the end of the lock whose key has this value, as a Unix time in ms. It returns 0 if value is not a time.
func (u Unit) end(value string) int64 {
	switch u {
	case Seconds:
		n, _ := strconv.ParseInt(value, 10, 64)
		return n * 1000
	case Milliseconds:
		n, _ := strconv.ParseInt(value, 10, 64)
		return n
	}
	whole, part, _ := strings.Cut(value, ".")
	s, _ := strconv.ParseInt(whole, 10, 64)
	ms, _ := strconv.ParseInt(part, 10, 64)
	return s*1000 + ms
}
