package nodemodel

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/node"
)

// reader is an entry of a reader. Its token is 0 if it is a claim.
type reader struct {
	owner         string
	token, expiry int64
	crowd         []string // the owners of all readers in an answer
}

func (r reader) compare(o reader) int {
	return cmp.Or(cmp.Compare(r.token, o.token), strings.Compare(r.owner, o.owner))
}

// readers are the readers of a name as they are stored on a node.
type readers struct {
	there        bool
	text         string // the text of the field "seen"
	seen, leased int64
	all          []reader // sorted
	corrupt      bool
}

// noted is the field of a hash of readers that has the two highest tokens. Every other field is an owner.
const noted = "seen"

// readers reads the hash of readers.
func (n *Node) readers(c node.Call) (r readers, err error) {
	v, there := n.keys[nodescript.ReadersKey(c.Keys[0])]
	if there && v.hash == nil {
		return r, wrongType
	}
	if !there {
		return r, nil
	}
	r.text, r.there = v.hash[noted], v.hash[noted] != ""
	for owner, text := range v.hash {
		a, b, ok := twoTokens(text)
		r.corrupt = r.corrupt || !ok || len(owner) > nodescript.MostOwner
		if owner == noted {
			r.seen, r.leased = a, b
		} else {
			r.all = append(r.all, reader{owner: owner, token: a, expiry: b})
		}
	}
	slices.SortFunc(r.all, reader.compare)
	return r, nil
}

// otherThanHash reports whether a key has another type than the readers of a name.
func (n *Node) otherThanHash(key string) bool {
	v, there := n.keys[key]
	return there && v.hash == nil
}

// twoTokens reads the value of a field: two numbers of 16 digits.
func twoTokens(text string) (a, b int64, ok bool) {
	if len(text) != 32 || strings.Trim(text, "0123456789") != "" {
		return 0, 0, false
	}
	a, _ = strconv.ParseInt(text[:16], 10, 64)
	b, _ = strconv.ParseInt(text[16:], 10, 64)
	return a, b, true
}

// readersOf returns the readers of a record, or an answer if the node forgot them or they are corrupt. A node that
// forgot them stops voting. After its quarantine these readers no longer matter, so the record's flag is reset.
func (n *Node) readersOf(c node.Call, old stored) (r readers, answer string, err error) {
	if !old.there || old.corrupt || !old.Shared {
		return r, "", nil
	}
	r, err = n.readers(c)
	switch {
	case err != nil:
		return r, "", err
	case r.corrupt:
		return r, "C", nil
	case !r.there:
		n.forgot(c, old)
		return r, "N", nil
	}
	return r, "", nil
}

func (n *Node) forgot(c node.Call, old stored) {
	delete(n.keys, nodescript.GuardKey)
	n.wrote()
	old.Shared = false
	n.flag(c, old.Record)
}

// flag writes the flag of a record only.
func (n *Node) flag(c node.Call, r nodescript.Record) {
	v := n.keys[c.Keys[0]]
	v.text = v.text[:48] + r.String()[48:49] + v.text[49:]
}

// alive returns the entries that have not expired: grants by token, then claims.
func (r readers) alive(now int64) []reader {
	live := slices.DeleteFunc(slices.Clone(r.all), func(one reader) bool { return now >= one.expiry })
	slices.SortStableFunc(live, func(a, b reader) int {
		switch {
		case (a.token == 0) == (b.token == 0):
			return 0
		case a.token == 0:
			return 1
		}
		return -1
	})
	return live
}

// grants returns the live entries, if there is a grant among them.
func (r readers) grants(now int64) []reader {
	if live := r.alive(now); len(live) > 0 && live[0].token != 0 {
		return live
	}
	return nil
}

// dead returns the highest token of the entries that have expired.
func (r readers) dead(now int64) (top int64) {
	for _, one := range r.all {
		if now >= one.expiry {
			top = max(top, one.token)
		}
	}
	return top
}

// entry returns the entry of an owner, and whether it has one.
func (r readers) entry(owner string) (reader, bool) {
	i := slices.IndexFunc(r.all, func(one reader) bool { return one.owner == owner })
	if i < 0 {
		return reader{}, false
	}
	return r.all[i], true
}

// named returns the reader that an answer names as the holder: the first one, but with the latest expiry of all
// readers.
func named(live []reader) reader {
	r := live[0]
	for _, one := range live {
		r.expiry = max(r.expiry, one.expiry)
		if one.token != 0 {
			r.crowd = append(r.crowd, one.owner)
		}
	}
	return r
}

// setReaders writes a new hash without entries.
func (n *Node) setReaders(s script, c node.Call, r readers) {
	n.keys[nodescript.ReadersKey(c.Keys[0])] = &value{
		hash:    map[string]string{noted: nodescript.Micros(r.seen) + nodescript.Micros(r.leased)},
		expires: n.Clock()/1000 + stays(s),
	}
}

// setEntry writes an entry of an existing hash.
func (n *Node) setEntry(c node.Call, owner string, token, expiry int64) {
	n.keys[nodescript.ReadersKey(c.Keys[0])].hash[owner] = nodescript.Micros(token) + nodescript.Micros(expiry)
}

// claim gives a reader a claim. A live grant of its own stays.
func (n *Node) claim(s script, c node.Call, owner string, ends int64, marked bool) {
	if !marked {
		n.setReaders(s, c, readers{})
	}
	hash := n.keys[nodescript.ReadersKey(c.Keys[0])].hash
	token, expiry, _ := twoTokens(hash[owner])
	if token != 0 && n.now() < expiry {
		return
	}
	if text := nodescript.Micros(token); text > hash[noted][16:] {
		hash[noted] = hash[noted][:16] + text
	}
	n.setEntry(c, owner, 0, ends)
}

// listed returns the readers as inspect prints them.
func (n *Node) listed(c node.Call, record string) string {
	r, err := n.readers(c)
	shared := len(record) >= 49 && (record[48] == '2' || record[48] == '3')
	corrupt := shared && (err != nil || r.corrupt)
	if err != nil || r.corrupt || !r.there || !shared {
		r = readers{}
	}
	live := r.alive(n.now())
	out := nodescript.Micros(r.seen) + nodescript.Micros(r.leased) + fmt.Sprintf("%06d", len(live))
	if corrupt {
		out = strings.Repeat("C", 16) + out[16:]
	}
	for _, one := range live[:min(len(live), nodescript.MostListed)] {
		out += fmt.Sprintf("%03d", len(one.owner)) + nodescript.Micros(one.token) + nodescript.Micros(one.expiry) + one.owner
	}
	return out
}
