package nodescript

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
)

const (
	// MostValue is the largest size of a value in bytes.
	MostValue = 16384

	// ValueKept is the time for which a node keeps a value that no holder loads, stores or renews.
	ValueKept = 30 * 24 * time.Hour

	valueExtra  = ":value"
	valueTail   = recordTail + valueExtra
	seqDigits   = 8
	versionSize = digits + seqDigits
	valueHead   = digits + versionSize + 1 // the fields since, version and kind

	// MostSequence is the largest number of writes during one lease.
	MostSequence = 99_999_999
)

// ValueKey returns the key of the value that belongs to a record.
func ValueKey(record string) string { return record + valueExtra }

// Version orders the values of a name. A holder's token is higher than the tokens of all earlier holders. The zero
// Version is older than all others.
type Version struct {
	Token    int64 // the token of the lease during which the value was written
	Sequence int64 // the number of the write within that lease
}

// Compare returns -1 if v is older than o, 0 if both are equal, and 1 if v is newer.
func (v Version) Compare(o Version) int {
	return cmp.Or(cmp.Compare(v.Token, o.Token), cmp.Compare(v.Sequence, o.Sequence))
}

// Stored is the value of a name on one node. A holder can also store that there is no value.
type Stored struct {
	Version Version
	Bytes   string
	None    bool // there is no value
	Whole   bool // the node cannot have forgotten a later value
}

// LoadValueCall asks a node for the value of l. The node answers only if owner holds l with the token T.
func LoadValueCall(l Lock, owner string, T, stamp int64) Call {
	return Call{LoadValue, l.valueKeys(), []string{owner, Micros(T), Micros(stamp)}}
}

// StoreValueCall writes a value with the version T and sequence. The node accepts it only if owner holds l with the
// token T. If none is true, the call stores that there is no value.
func StoreValueCall(l Lock, owner string, T, stamp, sequence int64, value string, none bool) Call {
	kind := "v"
	if none {
		kind, value = "-", ""
	}
	return Call{StoreValue, l.valueKeys(), []string{owner, Micros(T), Micros(stamp), fmt.Sprintf("%0*d", seqDigits, sequence), kind + value}}
}

func (l Lock) valueKeys() []string {
	record := RecordKey(l.Name)
	return []string{record, ValueKey(record)}
}

// parseStored reads the answer V of load, without its letter.
func parseStored(s string) (v *Stored, ok bool) {
	const head = 1 + versionSize + 1
	if len(s) < head || len(s) > head+MostValue || s[0] != 'w' && s[0] != '-' || s[head-1] != 'v' && s[head-1] != '-' {
		return nil, false
	}
	token, err := parseMicros(s[1 : 1+digits])
	sequence, err2 := strconv.ParseUint(s[1+digits:head-1], 10, 32)
	v = &Stored{
		Version: Version{token, int64(sequence)}, Whole: s[0] == 'w', None: s[head-1] == '-', Bytes: strings.Clone(s[head:]),
	}
	return v, err == nil && err2 == nil && !(v.None && v.Bytes != "")
}
