package nodemodel

import (
	"strings"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// register is the value of a name as it is stored on a node.
type register struct {
	there bool
	since string // the beginning of the memory that wrote it
	rest  string // version(24) kind bytes
}

// valueHead is the length of the fixed part of a stored value: since, version, kind.
const valueHead = 16 + 24 + 1

// valued returns the register that a call of a holder is about. Its args begin with owner, T, stamp. answer is not ""
// if the node does not answer with the value.
func (n *Node) valued(s script, c node.Call) (r register, answer string, err error) {
	if answer, err := n.door(s, number(c.Args[2])); answer != "" || err != nil {
		return r, answer, err
	}
	held, err := n.record(c.Keys[0])
	switch {
	case err != nil:
		return r, "", err
	case held.corrupt:
		return r, "C", nil
	case !held.live(n.now()) || held.Owner != c.Args[0] || held.Token != number(c.Args[1]):
		return r, "L", nil
	}
	text, there, err := n.text(c.Keys[1])
	switch {
	case err != nil:
		return r, "", err
	case !there && n.evicted():
		return r, "N", nil
	case there && (len(text) < valueHead || len(text) > valueHead+nodescript.MostValue):
		return r, "C", nil
	case there:
		r = register{true, text[:16], text[16:]}
	}
	return r, "", nil
}

// since returns the beginning of the node's memory, as it is stored. It is far in the future if it is unknown.
func (n *Node) since() string {
	if v := n.keys[nodescript.AdmissionKey]; v != nil && len(v.hash["since"]) == 16 && strings.Trim(v.hash["since"], "0123456789") == "" {
		return v.hash["since"]
	}
	return nodescript.Micros(never)
}

// loadValue answers the value of a register to the holder of its name. Its args are owner, T, stamp.
func (n *Node) loadValue(s script, c node.Call) (string, error) {
	r, answer, err := n.valued(s, c)
	if answer != "" || err != nil {
		return answer, err
	}
	memory := "-"
	if n.now()-number(n.since()) >= nodescript.ValueKept.Microseconds() || r.there && r.since == n.since() {
		memory = "w"
	}
	if !r.there {
		return "V" + memory + strings.Repeat("0", 24) + "-", nil
	}
	n.keys[c.Keys[1]].expires = n.Clock()/1000 + nodescript.ValueKept.Milliseconds()
	return "V" + memory + r.rest, nil
}

// storeValue writes the value of a register for the holder of its name. Its args are owner, T, stamp, sequence, kind
// and bytes.
func (n *Node) storeValue(s script, c node.Call) (string, error) {
	r, answer, err := n.valued(s, c)
	switch {
	case answer != "" || err != nil:
		return answer, err
	case r.there && r.rest[:16] == c.Args[1] && r.rest[16:24] > c.Args[3]:
		return "S", nil
	case n.Full:
		return "", oom
	}
	n.setText(c.Keys[1], n.since()+c.Args[1]+c.Args[3]+c.Args[4], nodescript.ValueKept.Milliseconds())
	return "D", nil
}

// peek answers the value of a register to anybody.
func (n *Node) peek(c node.Call) (string, error) {
	text, there, err := n.text(c.Keys[0])
	switch {
	case err != nil:
		return "V?", nil
	case !there:
		return "-", nil
	}
	return "V" + head(text, valueHead+nodescript.MostValue+1), nil
}
