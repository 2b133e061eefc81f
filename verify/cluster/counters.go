//go:build linux

package cluster

import (
	"encoding/binary"
	"os"
)

// counters is a file with a number for each name. All processes share it. Only the lock of the name protects the time
// between a read and a write, and no fencing token protects the file.
type counters struct{ file *os.File }

func openCounters(path string) (counters, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	return counters{f}, err
}

// read returns the number of a name, 0 if nobody has written it.
func (c counters) read(name int) (uint64, error) {
	var b [8]byte
	info, err := c.file.Stat()
	if err != nil || info.Size() < int64(8*name+8) {
		return 0, err
	}
	_, err = c.file.ReadAt(b[:], int64(8*name))
	return binary.LittleEndian.Uint64(b[:]), err
}

func (c counters) write(name int, n uint64) error {
	_, err := c.file.WriteAt(binary.LittleEndian.AppendUint64(nil, n), int64(8*name))
	return err
}
