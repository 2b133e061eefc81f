package nodemodel

import (
	"errors"

	"github.com/holdfast-go/holdfast/node"
)

// value is the value of a key: a hash or a queue if that is not nil, else a string.
type value struct {
	text    string
	hash    map[string]string
	queue   []waiter
	expires int64 // ms since the epoch; 0 = never
}

// forever is the remaining life of a key that does not expire, as scripts print it.
const forever = "9999999999999999"

// sweep deletes expired keys. By Redis's rule, a key lives through the whole millisecond of its expiry.
func (n *Node) sweep() {
	ms := n.Clock() / 1000
	for k, v := range n.keys {
		if v.expires != 0 && ms > v.expires {
			delete(n.keys, k)
		}
	}
}

func (n *Node) setText(key, text string, ms int64) {
	n.keys[key] = &value{text: text, expires: n.Clock()/1000 + ms}
}

// keepText sets the string of a key. An existing key keeps its expiry. If longer is true, the key may get a later
// expiry, but no earlier one: no stamp confirms this node's clock.
func (n *Node) keepText(key, text string, ms int64, longer bool) {
	v, there := n.keys[key]
	if !there {
		n.setText(key, text, ms)
		return
	}
	n.keys[key] = &value{text: text, expires: v.expires}
	if longer {
		n.lengthen(key, ms)
	}
}

// lengthen does PEXPIRE with GT.
func (n *Node) lengthen(key string, ms int64) {
	n.wrote()
	if v := n.keys[key]; v != nil && v.expires != 0 {
		v.expires = max(v.expires, n.Clock()/1000+ms)
	}
}

// stay gives a key the life of a record (PEXPIRE), if the caller wants that.
func (n *Node) stay(s script, key string, wanted bool) {
	if wanted {
		n.wrote()
	}
	if v := n.keys[key]; v != nil && wanted {
		v.expires = n.Clock()/1000 + stays(s)
	}
}

// text returns a key's string. The error is WRONGTYPE if the key holds another type.
func (n *Node) text(key string) (text string, there bool, err error) {
	v, there := n.keys[key]
	if there && (v.hash != nil || v.queue != nil) {
		return "", true, wrongType
	}
	if there {
		text = v.text
	}
	return text, there, nil
}

// errDisconnected ends subscriptions when a node restarts.
var errDisconnected = errors.New("connection closed by the node")

var (
	wrongType = node.ServerError("WRONGTYPE Operation against a key holding the wrong kind of value")
	noScript  = node.ServerError("NOSCRIPT No matching script. Please use EVAL.")
	oom       = node.ServerError("OOM command not allowed when used memory > 'maxmemory'.")
)
