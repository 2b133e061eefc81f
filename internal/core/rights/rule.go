package rights

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// User describes a user of a server.
type User struct {
	Name      string
	Password  string // "": the rule names none
	Roles     Role
	Prefixes  []string // the prefixes of the names that the user may lock; nil: all names
	Durable   bool     // the node set is declared durable
	Confirmed bool     // a grant counts only if replicas have it: wait=N in the URLs
	Sharded   bool     // the nodes are a Redis Cluster
}

// Check returns why a server would refuse the rule of this user, or why the rule would be useless. It returns nil if
// neither is the case.
func (u User) Check() error {
	switch {
	case u.Name == "":
		return fmt.Errorf("the user's name is empty")
	case spaced(u.Name):
		return fmt.Errorf("the user's name %q has white space or NUL, which no rule can contain", u.Name)
	}
	for _, p := range u.Prefixes {
		switch {
		case p == "":
			return fmt.Errorf("the prefix is empty; without a prefix the user has rights to all names")
		case spaced(p):
			return fmt.Errorf("the prefix %q has white space or NUL, which no rule can contain; choose a shorter prefix that ends before it", p)
		}
		if err := nodescript.CheckPrefix(p); err != nil {
			return fmt.Errorf("no name has the prefix %q: %w", p, err)
		}
	}
	return nil
}

func spaced(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r == 0 || r < 0x80 && unicode.IsSpace(r) })
}

// Commands returns the rights to commands, such as get and script|load, in the order of the list.
func (u User) Commands() (list []string) {
	for _, c := range u.needs() {
		list = append(list, c.right())
	}
	return list
}

// needs returns the commands of the user's roles, each once.
func (u User) needs() (list []command) {
	for _, c := range commands {
		if u.Roles&c.roles != 0 && u.has(c.need) &&
			!slices.ContainsFunc(list, func(o command) bool { return o.right() == c.right() }) {
			list = append(list, c)
		}
	}
	return list
}

// has reports whether the user's node set has a need.
func (u User) has(n need) bool {
	switch n {
	case ifDurable:
		return u.Durable
	case ifConfirmed:
		return u.Confirmed
	case ifSharded:
		return u.Sharded
	case ifNumbered:
		return !u.Sharded
	}
	return true
}

// Keys returns the patterns of the keys that the user needs.
func (u User) Keys() (list []string) {
	switch {
	case !u.Roles.names():
	case len(u.Prefixes) == 0:
		return []string{"*"}
	default:
		for _, p := range u.Prefixes {
			list = append(list, literal(p)+"*", "{"+literal(p)+"*") // the plain key, and the keys of the record
		}
	}
	return append(list, nodescript.GuardKey+"*")
}

// Channels returns the patterns of the channels that the user needs.
func (u User) Channels() []string {
	if !u.Roles.channels() {
		return nil
	}
	return []string{nodescript.Inbox("*")}
}

// literal returns the pattern that matches only s.
func literal(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`).Replace(s)
}

// Grants returns the rights as arguments of ACL SETUSER. They say nothing about other rights that the user has.
func (u User) Grants() (list []string) {
	for _, k := range u.Keys() {
		list = append(list, "~"+k)
	}
	for _, c := range u.Channels() {
		list = append(list, "&"+c)
	}
	for _, c := range u.Commands() {
		list = append(list, "+"+c)
	}
	return list
}

// SetUser returns the arguments of ACL SETUSER that give the user these rights and no others. They change the password
// only if the user has one here. They contain its SHA-256 digest.
func (u User) SetUser() []string {
	list := []string{u.Name, "on"}
	if u.Password != "" {
		list = append(list, "resetpass", u.digest())
	}
	return append(append(list, "clearselectors", "resetkeys", "resetchannels", "-@all"), u.Grants()...)
}

// Line returns the user's line of an ACL file.
func (u User) Line() string {
	list := []string{"user", u.Name, "on"}
	if u.Password != "" {
		list = append(list, u.digest())
	}
	return strings.Join(append(append(list, "resetchannels", "-@all"), u.Grants()...), " ")
}

func (u User) digest() string {
	sum := sha256.Sum256([]byte(u.Password))
	return "#" + hex.EncodeToString(sum[:])
}

// Probe is a command that a user needs, with keys and channels as Holdfast uses them.
type Probe struct {
	Command []string // for ACL DRYRUN
	Right   string   // such as +get
}

// Probes returns a probe for each right of the user, and for each kind of key and channel.
func (u User) Probes() (list []Probe) {
	for _, c := range u.needs() {
		list = append(list, Probe{u.about(c), "+" + c.right()})
	}
	if u.Roles.names() {
		for _, key := range []string{nodescript.GuardKey, nodescript.RecordKey(u.name())} {
			list = append(list, Probe{[]string{"GET", key}, "+get"})
		}
	}
	return list
}

// name returns a name that the user may lock.
func (u User) name() string {
	if len(u.Prefixes) == 0 {
		return "x"
	}
	return u.Prefixes[0] + "x" + strings.Repeat("}", max(strings.Count(u.Prefixes[0], "{")-strings.Count(u.Prefixes[0], "}"), 0))
}

// keyless are the commands whose second word is no key.
var keyless = []string{"CLIENT", "SELECT", "PING", "EVAL", "EVAL_RO", "EVALSHA", "SCRIPT", "SUBSCRIBE", "CONFIG", "INFO",
	"TIME", "PUBLISH", "PUBSUB", "SCAN", "SLOWLOG", "ACL", "WAIT", "CLUSTER"}

// about returns the words of a command, with a key that the user needs.
func (u User) about(c command) []string {
	words := strings.Fields(c.example)
	switch {
	case words[0] == "EVAL" || words[0] == "EVAL_RO":
		return []string{words[0], "return 0", "0"}
	case slices.Contains(keyless, words[0]):
	case u.Roles.names():
		words[1] = u.name()
	default:
		words[1] = nodescript.GuardKey
	}
	return words
}
