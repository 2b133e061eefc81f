package nodemodel

import "github.com/holdfast-go/holdfast/node"

// value is what a key holds: a string, or, if hash is not nil, a hash.
type value struct {
	text    string
	hash    map[string]string
	expires int64 // ms since the epoch; 0 = never
}

// forever is the time left of a key that does not expire, as scripts print it.
const forever = "9999999999999999"

// sweep deletes what is over. Redis's rule: a key lives through the whole
// millisecond of its expiry.
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

// text returns a key's string; err is WRONGTYPE if it holds a hash.
func (n *Node) text(key string) (text string, there bool, err error) {
	v, there := n.keys[key]
	if there && v.hash != nil {
		return "", true, wrongType
	}
	if there {
		text = v.text
	}
	return text, there, nil
}

var (
	wrongType = node.ServerError("WRONGTYPE Operation against a key holding the wrong kind of value")
	noScript  = node.ServerError("NOSCRIPT No matching script. Please use EVAL.")
	oom       = node.ServerError("OOM command not allowed when used memory > 'maxmemory'.")
)
