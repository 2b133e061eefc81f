package nodescript

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

// View is the content of a name's keys on a node, at one instant of the node's clock.
type View struct {
	Time    int64 // µs
	Record  Record
	Written bool          // the record exists
	Votes   bool          // the node votes; if it does not, it may have forgotten locks of the name
	Plain   string        // the first 256 bytes of the plain key's value
	Kind    byte          // the type of the plain key: '-' no key, 's' string, 't' another type
	Left    time.Duration // the remaining time of the plain key; Forever if it does not expire
	Readers Readers
}

// Live reports whether the owner in the record had the name at v.Time. It ignores readers.
func (v View) Live() bool { return v.Record.Owner != "" && v.Time < v.Record.Expiry }

// Foreign reports whether the plain key exists and was not set by Holdfast for this owner.
func (v View) Foreign() bool {
	return v.Kind == 't' || v.Kind == 's' && (v.Plain == "" || v.Plain != v.Record.Owner && v.Plain != Marker)
}

// InspectCall asks for the content of a name's keys. Send it with [InspectText].
func InspectCall(l Lock) node.Call {
	return node.Call{Keys: []string{RecordKey(l.Name), l.Name}}
}

// BadRecord is the error for a record key whose value is not a record. Its text says what is wrong.
type BadRecord struct{ error }

// badReaders is what inspect answers at the place of the readers if their key is corrupt.
var badReaders = strings.Repeat("C", digits)

// ParseView reads the reply to inspect.
func ParseView(r node.Reply) (v View, err error) {
	const head = digits + 2 + digits + 6
	bad := Unreadable("unreadable answer to inspect; is this Redis or Valkey?")
	if r.Err != nil {
		return v, noScripts(r.Err)
	}
	if len(r.Value) < head {
		return v, bad
	}
	if v.Time, err = parseMicros(r.Value[:digits]); err != nil {
		return v, bad
	}
	v.Kind, v.Votes = r.Value[digits], r.Value[digits+1] == 'v'
	if v.Left, err = parseLeft(r.Value[digits+2 : 2*digits+2]); err != nil {
		return v, bad
	}
	n, err := strconv.ParseUint(r.Value[2*digits+2:head], 10, 31)
	if err != nil || head+int(n) > len(r.Value) {
		return v, bad
	}
	if n > 0 {
		if v.Record, err = ParseRecord(r.Value[head : head+int(n)]); err != nil {
			return v, BadRecord{err}
		}
		v.Written = true
	}
	rest := r.Value[head+int(n):]
	if len(rest) < 3 {
		return v, bad
	}
	plain, err := strconv.ParseUint(rest[:3], 10, 31)
	if err != nil || 3+int(plain) > len(rest) {
		return v, bad
	}
	v.Plain = rest[3 : 3+plain]
	rest = rest[3+plain:]
	if strings.HasPrefix(rest, badReaders) {
		return v, BadRecord{errors.New("the hash of its readers has another value than Holdfast writes")}
	}
	if v.Readers, err = parseReaders(rest); err != nil {
		return v, bad
	}
	return v, nil
}
