package rueidisnode

import (
	"errors"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/node/internal/driver"
)

// This file reads the parts of a URL that declare a master that may change.

// cutHosts cuts the list of hosts out of the URL of a cluster, or of a node behind Sentinels, because url.Parse knows one
// host only. It returns any other text unchanged.
func cutHosts(text string) (cut string, hosts []string, err error) {
	scheme, rest, _ := strings.Cut(text, "://")
	if s := strings.ToLower(scheme); !strings.HasSuffix(s, "+sentinel") && !strings.Contains(s, "cluster") { // redis-cluster:// is an unknown scheme, and not a bad port
		return text, nil, nil
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, path := rest[:end], rest[end:]
	user, list, found := strings.Cut(authority, "@")
	if !found {
		user, list = "", authority
	} else if strings.Contains(user, ",") { // a comma of a password, or a piece of one among the hosts
		return "", nil, errAmbiguous
	} else {
		user += "@"
	}
	return scheme + "://" + user + "hosts" + path, strings.Split(list, ","), nil
}

// readHosts returns the addresses of hosts, sorted and separated by commas.
func readHosts(hosts []string, defaultPort string) (string, error) {
	var addrs []string
	for _, h := range hosts {
		one, err := url.Parse("redis://" + h)
		if err != nil || one.Path != "" {
			return "", errAmbiguous
		}
		addr, err := hostPort(one, defaultPort)
		if err != nil {
			return "", err
		}
		addrs = append(addrs, driver.HostPort(addr, defaultPort)) // one spelling, so that none counts twice
	}
	slices.Sort(addrs)
	return strings.Join(slices.Compact(addrs), ","), nil
}

// readCluster reads the URL of a cluster. hosts are some of its servers.
func (t *target) readCluster(u *url.URL, query url.Values, hosts []string) (err error) {
	if t.cluster, err = readHosts(hosts, driver.DefaultPort); err != nil {
		return err
	}
	t.network, t.replication.Declared = "tcp", true
	if err := t.readReplication(query, map[string]*string{}); err != nil {
		return err
	}
	if err := t.readDB(strings.Trim(u.Path, "/")); err != nil {
		return err
	}
	if t.db != 0 {
		return errors.New("a Redis Cluster has database 0 only; leave the number out")
	}
	return nil
}

// readSentinel reads the URL of a node behind Sentinels. hosts are the Sentinels.
func (t *target) readSentinel(u *url.URL, query url.Values, hosts []string) error {
	var err error
	if t.sentinels, err = readHosts(hosts, driver.SentinelPort); err != nil {
		return err
	}
	name, db, _ := strings.Cut(strings.Trim(u.Path, "/"), "/")
	switch {
	case name == "":
		return errors.New("no name of the master; it follows the Sentinels, as in redis+sentinel://a,b,c/mymaster")
	case strings.ContainsFunc(name, notInMaster):
		return errors.New("the name of the master has other characters than letters, digits, . - and _")
	}
	t.network, t.master = "tcp", name
	t.replication.Declared = true
	if err := t.readReplication(query, map[string]*string{"sentinel-user": &t.sentinelUser, "sentinel-password": &t.sentinelPassword}); err != nil {
		return err
	}
	if t.sentinelUser != "" && t.sentinelPassword == "" {
		return errors.New("sentinel-user needs a sentinel-password")
	}
	return t.readDB(db)
}

// notInMaster reports whether Sentinel allows no r in the name of a master.
func notInMaster(r rune) bool { return r != '_' && notInName(r) || r >= 0x80 }

// readReplication reads the parameters of a master that may change, and the texts of more.
func (t *target) readReplication(query url.Values, more map[string]*string) error {
	var err error
	for name, values := range query {
		if len(values) > 1 {
			return errors.New("a parameter is given twice")
		}
		value := values[0]
		switch text := more[name]; {
		case text != nil:
			*text = value
		case name == "replicated" && (value == "true" || value == "false"):
			t.replication.Declared = t.replication.Declared || value == "true"
			if value == "false" && t.sentinels+t.cluster != "" {
				return errors.New("replicated is false, but Sentinel or the cluster may change the master; leave the parameter out")
			}
		case name == "replicated":
			return errors.New("replicated is neither true nor false")
		case name == "wait":
			if t.replication.Replicas, err = strconv.Atoi(value); err != nil {
				return errors.New("wait is not a number of replicas")
			}
		case name == "wait-timeout":
			if t.replication.Within, err = time.ParseDuration(value); err != nil {
				return errors.New("wait-timeout is not a duration, such as 100ms")
			}
		case t.cluster != "":
			return errors.New("unknown parameter behind the ?; want wait or wait-timeout")
		case more != nil:
			return errors.New("unknown parameter behind the ?; want wait, wait-timeout, sentinel-user or sentinel-password")
		default:
			return errors.New("unknown parameter behind the ?; want replicated, wait or wait-timeout")
		}
	}
	if !t.replication.Declared {
		if t.replication != (node.Replication{}) {
			return errors.New("wait and wait-timeout need replicated=true")
		}
		return nil
	}
	t.replication, err = t.replication.Check()
	return err
}
