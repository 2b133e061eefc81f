package e2e

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/core/rights"
	"github.com/holdfast-go/holdfast/internal/redistest"
)

// In most tests, the clients log in as users that have only the rights that holdfast acl prints. So a missing right
// fails a test.

var withACL = flag.Bool("holdfast.acl", true, "the clients of tests are users with the rights of their roles")

const (
	plainUser   = "client"
	durableUser = "durable" // of a set that is declared durable
	password    = "pw"
)

// users are the users of all servers, with their rights. A client of a test takes locks, and it also lists them.
var users = map[string]rights.User{
	plainUser:   {Roles: rights.Locker | rights.Observer},
	durableUser: {Roles: rights.Locker | rights.Observer, Durable: true},
}

// withUsers returns the options of a server that has the users.
func withUsers(opts []redistest.Option) []redistest.Option {
	opts = slices.Clone(opts)
	for name, u := range users {
		opts = append(opts, redistest.User(name, password, u.Grants()...))
	}
	return opts
}

// asUser returns the URLs with the user and password for a client with these settings.
func asUser(c holdfast.Config, urls []string) (list []string) {
	if !*withACL {
		return urls
	}
	user := plainUser
	if c.Durable {
		user = durableUser
	}
	for _, u := range urls {
		if !strings.Contains(u, "@") {
			u = strings.Replace(u, "://", "://"+user+":"+password+"@", 1)
		}
		list = append(list, u)
	}
	return list
}

// refusals fails the test if a server refused something to one of its users. It asks no server that is killed or
// frozen.
func (s *set) refusals() {
	for i, srv := range s.servers {
		answer := make(chan []string, 1)
		go func() { list, _ := refused(srv); answer <- list }()
		select {
		case list := <-answer:
			for _, r := range list {
				s.t.Errorf("node %d refused to its user %s", i, r)
			}
		case <-time.After(time.Second):
		}
	}
}

// refused returns what a server refused to users, as "name: reason object (context)".
func refused(srv *redistest.Server) (list []string, err error) {
	log, err := srv.Do("ACL", "LOG")
	entries, _ := log.([]any)
	for _, entry := range entries {
		fields, said := entry.([]any), map[string]string{}
		for i := 0; i+1 < len(fields); i += 2 {
			said[fmt.Sprint(fields[i])] = fmt.Sprint(fields[i+1])
		}
		if _, known := users[said["username"]]; known || said["username"] == wardUser {
			list = append(list, fmt.Sprintf("%s: %s %s (%s)", said["username"], said["reason"], said["object"], said["context"]))
		}
	}
	slices.Sort(list)
	return list, err
}
