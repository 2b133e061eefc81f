package nodescript

import (
	"fmt"
	"strings"
)

// MaxName is the longest name in bytes, the prefix included.
const MaxName = 1024

// Keys of a node that belong to no name.
const (
	GuardKey     = "holdfast:node"           // present only while the node may vote
	AdmissionKey = "holdfast:node:admission" // why it may or may not
	KeptKey      = "holdfast:node:kept"      // outlives the guard: no leap of the clock took records
	PeersKey     = "holdfast:node:peers"     // the servers that are the node set's members
	TrustKey     = "holdfast:node:trust"     // an operator's voucher: the challenge or mark it names, and a configuration
)

const (
	reserved    = "holdfast:node"
	recordTail  = ":holdfast"
	queueTail   = ":holdfast:queue"
	taggedExtra = ":" // keeps "{x}" apart from "x": both would be "{x}:holdfast"
)

// RecordKey returns the key of name's record. It hashes to the same Redis Cluster
// slot as name does: a name with a {tag} lends it, any other becomes the tag.
func RecordKey(name string) string {
	if tagged(name) {
		return name + taggedExtra + recordTail
	}
	return "{" + name + "}" + recordTail
}

// nameOf is the name whose record key is.
func nameOf(key string) (name string, ok bool) {
	name, ok = strings.CutSuffix(key, recordTail)
	if !ok {
		return "", false
	}
	if tag, ok := strings.CutSuffix(name, taggedExtra); ok && RecordKey(tag) == key {
		name = tag
	} else {
		name = strings.TrimSuffix(strings.TrimPrefix(name, "{"), "}")
	}
	return name, RecordKey(name) == key && CheckName(name) == nil
}

// tagged reports whether Redis would hash only a part of name: the bytes between
// the first { and the first } after it, if there are any.
// https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#hash-tags
func tagged(name string) bool {
	_, after, ok := strings.Cut(name, "{")
	return ok && strings.Index(after, "}") > 0
}

// CheckName returns why name cannot be locked, or nil. Any bytes are allowed, NUL
// and newline too; refused are the empty name, one longer than [MaxName], and the
// few that would alias keys of our own.
func CheckName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("name is empty; give the lock a name")
	case len(name) > MaxName:
		return fmt.Errorf("name has %d bytes; at most %d are allowed", len(name), MaxName)
	case strings.HasPrefix(name, reserved):
		return fmt.Errorf("name %q starts with %q, which keys of Holdfast's own do; choose another", name, reserved)
	case strings.HasSuffix(name, recordTail), strings.HasSuffix(name, queueTail):
		return fmt.Errorf("name %q ends like a key of Holdfast's own (%q, %q); choose another", name, recordTail, queueTail)
	case !balanced(name):
		return fmt.Errorf("name %q has unbalanced braces, which would make its keys ambiguous; close or drop them", name)
	case untaggable(name):
		return fmt.Errorf("name %q has an empty tag {}, which would part its keys in Redis Cluster; drop it", name)
	}
	return nil
}

// CheckPrefix returns why no name behind prefix can be locked, or nil if some can.
func CheckPrefix(prefix string) error {
	open := strings.Count(prefix, "{") - strings.Count(prefix, "}")
	return CheckName(prefix + "x" + strings.Repeat("}", max(open, 0)))
}

// untaggable: Redis Cluster hashes the whole name, and no longer key that contains it
// can hash the same bytes.
func untaggable(name string) bool {
	_, after, ok := strings.Cut(name, "{")
	return ok && strings.HasPrefix(after, "}")
}

func balanced(name string) bool {
	depth := 0
	for i := range len(name) {
		switch name[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth < 0 {
				return false
			}
		}
	}
	return depth == 0
}
