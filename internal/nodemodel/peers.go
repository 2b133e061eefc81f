package nodemodel

import (
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// member is a server that has a place in the node set on this node.
type member struct{ seen, id, addr string }

// members returns the list of the configuration.
func (n *Node) members(head string) (text string, all []member) {
	text, _, _ = n.text(nodescript.PeersKey)
	if lines, ours := strings.CutPrefix(text, head); ours {
		for line := range strings.Lines(lines) {
			f := strings.Fields(line)
			all = append(all, member{f[0], f[1], f[2]})
		}
	}
	return text, all
}

// peers reports servers. Its args are stamp - W, stamp + W, configuration, nodes, µs kept, ms of the key and the node's
// id, and then id, seen and address of each server.
func (n *Node) peers(c node.Call) (string, error) {
	answer := "P" + nodescript.Micros(n.now())
	late := n.offClock(number(c.Args[0]), number(c.Args[1])) != ""
	if late {
		answer = "O" + answer[1:]
	}
	a, err := n.remembered()
	if err != nil {
		return "", err
	}
	if a.config != "" && a.config != c.Args[2] {
		return "M", nil
	}
	if c.Args[6] != a.id && c.Args[6] != "" {
		return answer + a.id + "\n\n", nil
	}
	head, most := c.Args[2]+"\n", int(number(c.Args[3]))
	over := nodescript.Micros(max(n.now()-number(c.Args[4]), 0))
	was, all := n.members(head)
	var others []member
	for list := c.Args[7:]; len(list) > 0; list = list[3:] {
		m := member{list[1], list[0], list[2]}
		if i := slices.IndexFunc(all, func(o member) bool { return o.id == m.id }); i < 0 {
			others = append(others, m)
		} else if m.seen > all[i].seen {
			all[i] = m
		}
	}
	strangers := ""
	for _, m := range others {
		if slices.ContainsFunc(all, func(o member) bool { return o.id == m.id }) {
			continue
		}
		if len(all) < most {
			all = append(all, m)
			continue
		}
		oldest := 0
		for i, o := range all {
			if o.seen < all[oldest].seen {
				oldest = i
			}
		}
		if all[oldest].seen > over {
			strangers += m.id + " "
		} else {
			all[oldest] = m
		}
	}
	members := ""
	for _, m := range all {
		members += m.seen + " " + m.id + " " + m.addr + "\n"
	}
	if c.Args[6] == a.id && !late && was != head+members {
		n.setText(nodescript.PeersKey, head+members, number(c.Args[5]))
	}
	return answer + a.id + "\n" + strangers + "\n" + members, nil
}
