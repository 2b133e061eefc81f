package nodemodel

import (
	"strconv"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// force ends a lease for an operator. Its args are those of the script of op.
func (n *Node) force(s script, c node.Call) (answer string, err error) {
	key := nodescript.ForcedKey(c.Keys[0])
	if v := n.keys[key]; v != nil && v.hash == nil {
		return "", wrongType
	}
	switch s.op {
	case nodescript.ReleaseShared:
		answer, err = n.releaseShared(s, c)
	case nodescript.ReleaseSlot:
		answer, err = n.releaseSlot(s, c)
	default:
		answer, err = n.release(s, c)
	}
	if err != nil || answer == "C" {
		return answer, err
	}
	v := n.keys[key]
	if v == nil {
		v = &value{hash: map[string]string{}}
		n.keys[key] = v
	}
	v.hash[c.Args[0]] = max(nodescript.Micros(number(c.Args[1])), v.hash[c.Args[0]])
	n.stay(s, key, true)
	return answer, nil
}

// forced reports whether an operator has ended the lease of an owner.
func (n *Node) forced(c node.Call, owner string) bool {
	v := n.keys[nodescript.ForcedKey(c.Keys[0])]
	return v != nil && v.hash[owner] != ""
}

// endedFor reports whether an operator has ended the lease T of an owner, or a later one.
func (n *Node) endedFor(c node.Call, owner string, T int64) bool {
	return n.forced(c, owner) && nodescript.Micros(T) <= n.keys[nodescript.ForcedKey(c.Keys[0])].hash[owner]
}

// forcing returns the script of a text by which an operator ends a lease.
func (n *Node) forcing(text string) (s script, ok bool) {
	for _, config := range n.configs {
		for _, op := range []nodescript.Op{nodescript.Release, nodescript.ReleaseShared, nodescript.ReleaseSlot} {
			key := strconv.Itoa(int(op)) + config.String()
			if n.forces[key] == "" {
				n.forces[key] = nodescript.ForceText(config, op)
			}
			if n.forces[key] == text {
				return script{op: op, config: config}, true
			}
		}
	}
	return s, false
}
