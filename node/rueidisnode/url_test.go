package rueidisnode

import (
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/node"
)

func TestURLsSayWhereAndAsWhom(t *testing.T) {
	for url, want := range map[string]target{
		"redis://h":                         {network: "tcp", addr: "h:6379"},
		"REDIS://h:1/":                      {network: "tcp", addr: "h:1"},
		"rediss://u:p@h:65535/15":           {network: "tcp", addr: "h:65535", tls: true, user: "u", password: "p", db: 15},
		"redis://:p%40ss%2F@h":              {network: "tcp", addr: "h:6379", password: "p@ss/"},
		"redis://[::1]:7/2":                 {network: "tcp", addr: "[::1]:7", db: 2},
		"valkey://h":                        {network: "tcp", addr: "h:6379"},
		"valkeys://u:p@h":                   {network: "tcp", addr: "h:6379", tls: true, user: "u", password: "p"},
		"unix:///s?password=a+b%2Bc%20d":    {network: "unix", addr: "/s", password: "a+b+c d"},
		"unix:///s.sock":                    {network: "unix", addr: "/s.sock"},
		"unix://u:p@/s.sock?db=3":           {network: "unix", addr: "/s.sock", user: "u", password: "p", db: 3},
		"rediss://h/2?cacert=/c%20a.pem":    {network: "tcp", addr: "h:6379", tls: true, db: 2, files: certificates{ca: "/c a.pem"}},
		"valkeys://h?key=k&cert=c":          {network: "tcp", addr: "h:6379", tls: true, files: certificates{cert: "c", key: "k"}},
		"unix:///s?user=u&password=p%26&db": {network: "unix", addr: "/s", user: "u", password: "p&"},
	} {
		if got, err := parse(url); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", url, got, err, want)
		}
	}
}

func TestBadURLsAreRefusedByNameAndWithoutPassword(t *testing.T) {
	const pw = "S3CRET"
	for url, want := range map[string]string{
		"":                                    `the URL is empty; is a variable unset?`,
		"redis://a,redis://b":                 "several URLs in one text; give each as an argument of its own",
		"redis://a unix:///b":                 "several URLs in one text",
		"h:6379":                              `no scheme`,
		"u:" + pw + "@h:6379":                 `no scheme`,
		"http://h":                            `unknown scheme; want redis://, rediss:// (over TLS) or unix://, or redis+sentinel:// or rediss+sentinel://`,
		"redis://":                            "no host",
		"redis:///0":                          "no host",
		"redis://:6379":                       "no host",
		"redis://::1":                         "[brackets]",
		"redis://a!b":                         "the host is neither",
		"redis://u:" + pw:                     "percent-encoded", // a comma cut this text off
		"redis://h:0":                         `the port is not a number from 1 to 65535`,
		"redis://h:65536":                     "the port",
		"redis://u:" + pw + "@h:99999":        `node redis://…@h:99999: the port`,
		"valkey://u:" + pw + "@h:99999":       `node valkey://…@h:99999: the port`,
		"redis://h/x":                         `the database is not a number from 0 up`,
		"redis://h/-1":                        "the database",
		"redis://h/1/2":                       "the database",
		"redis://h?db=1":                      `unknown parameter behind the ?; want replicated, wait or wait-timeout`,
		"redis://h?cacert=a":                  "cacert needs a URL over TLS, such as rediss://",
		"unix:///s?key=a":                     "key needs a URL over TLS",
		"rediss://h?cert=a":                   "cert and key go together",
		"rediss://h?cacert=":                  "cacert is empty; want the name of a file in PEM",
		"rediss://h?cacert=a&cacert=b":        "a parameter is given twice",
		"rediss://h?cacert=/nope":             "cacert: stat /nope: no such file",
		"rediss://h?cert=/nope&key=/nope":     "cert and key: stat /nope: no such file",
		"redis://h#1":                         "#fragment",
		"redis://u:" + pw + "/x@h":            "percent-encoded",
		"redis://u:" + pw + "?x@h":            "percent-encoded",
		"redis://u:" + pw + "#x@h":            "percent-encoded",
		"redis://u:" + pw + "%zz@h":           "percent-encoded",
		"redis://u:x@y/" + pw + "@h":          "percent-encoded",
		"redis://u:" + pw + "\x00@h":          "percent-encoded",
		"unix://rel/path":                     "absolute path",
		"unix://":                             "absolute path",
		"unix:///s?password=" + pw + "&x=1":   `unknown parameter behind the ?; unix:// takes db, user and password`,
		"unix:///s?password=" + pw + "&db=y":  "the database",
		"unix:///s?password=a&password=" + pw: "a parameter is given twice",
		"unix:///s?password=" + pw + ";x":     "percent-encoded",
	} {
		_, err := New(url)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want %q", url, err, want)
		}
		if err != nil && strings.Contains(err.Error(), pw) {
			t.Errorf("the error shows the password: %v", err)
		}
	}
}

func TestTLSConfigNeedsRediss(t *testing.T) {
	if _, err := New("redis://h", TLSConfig(&tls.Config{})); err == nil || !strings.Contains(err.Error(), "rediss") {
		t.Errorf("with redis://: %v", err)
	}
	if _, err := New("rediss://h", TLSConfig(nil)); err == nil {
		t.Error("nil is accepted")
	}
}

func TestOpenNamesTheBadURL(t *testing.T) {
	for _, c := range []struct {
		urls []string
		want string
	}{
		{[]string{"redis://a", "redis://b:x", "redis://c"}, "rueidisnode: URL 2 of 3: node redis://"},
		{[]string{"h"}, "rueidisnode: URL 1 of 1: no scheme"},
		{nil, "rueidisnode: no URL was given"},
		{[]string{"redis://a", "redis://b", "redis://u:p@A:6379/0"}, "URL 3 of 3: node redis://a:6379/0: is listed before, as number 1"},
	} {
		nodes, err := Open(c.urls...)
		if nodes != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, %v; want %q", c.urls, nodes, err, c.want)
		}
	}
	nodes, err := Open("redis://b", "redis://a")
	if err != nil || len(nodes) != 2 || nodes[0].Addr() != "redis://b:6379/0" {
		t.Fatalf("%v, %v", nodes, err)
	}
	for _, n := range nodes {
		n.Close()
	}
}

// A list of URLs that is split at commas cuts a password with a comma in two, and each piece looks like a URL.
func TestAPasswordThatAListCutsInTwoIsNotPrinted(t *testing.T) {
	for _, password := range []string{
		"1,hunter2,x", "1/hunter2,x", "1?hunter2,x", "1?hunter2=1,x", "hunter2,x", "1,hunter2:5,x", "1,hunter2://a,x", "1,redis://hunter2:x,y", "1,redis://hunter2/z,y",
		"1,redis://h/hunter2,y", "1,redis://h?hunter2,y", "99999999,hunter2", "1,unix:///hunter2?x,y", "1,unix://hunter2,y", "1#hunter2,x", "1,hunter2", ",hunter2", "hunter2,", "1,%hunter2,x",
	} {
		list := strings.Split("redis://a:1,redis://u:"+password+"@host:6379,redis://b", ",")
		nodes, err := Open(list...)
		if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "99999999") {
			t.Errorf("%q: %v", list, err)
		}
		for _, n := range nodes {
			n.Close()
		}
		for _, url := range list {
			if _, err := New(url); err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("%q: %v", url, err)
			}
		}
	}
}

// FuzzURLList cuts a password at commas, as a program that splits a list does.
func FuzzURLList(f *testing.F) {
	for _, s := range []string{"", "1,", "1/", "1?", ",", ":", "1,a://", "1#", "redis://", "unix:///", "1,redis://h/"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, before, after string) {
		const pw = "S3CRET"
		if strings.Contains(before+after, "@") || strings.Contains(before+after, pw) {
			return // these characters must be percent-encoded, as FuzzURL shows
		}
		nodes, err := Open(strings.Split("redis://u:"+before+pw+after+"@h:6379,redis://b", ",")...)
		for _, n := range nodes {
			n.Close()
		}
		if err != nil && strings.Contains(err.Error(), pw) {
			t.Errorf("%q, %q: %v", before, after, err)
		}
	})
}

// For any URL, parsing must not panic, and no error may show the password. This includes a password that is not encoded
// and spills into the other parts.
func FuzzURL(f *testing.F) {
	for _, s := range []string{"", "/", "@", "?", "#", "%", ":", "/x@", "?a=b@c", "%zz", " ", "\x00", "//", "[", ";", "&db=x"} {
		f.Add("redis://u:", s, "@h:6379/0")
		f.Add("unix:///s?password=", s, "&db=1")
		f.Add("redis://", s, "")
		f.Add("redis+sentinel://a,b/", s, "?wait=1")
		f.Add("redis+sentinel://u:", s, "@a,b/m")
	}
	f.Fuzz(func(t *testing.T, before, middle, after string) {
		const pw = "S3CRET"
		for _, url := range []string{before + middle + after, "redis://" + middle + "@h" + after, "redis://u:" + pw + middle + "@h:0", "redis://:" + middle + pw + "@h/x",
			"redis://u:" + middle + pw + middle + "@h:1x/y", "unix:///s?db=x&password=" + pw,
			"redis+sentinel://u:" + pw + middle + "@a,b/m/x", "redis+sentinel://a,b/m?sentinel-password=" + pw + middle + "&db=1", "rediss://" + pw + middle + pw + "@/", "u:" + pw + middle + "@h", middle + pw + "@://h"} {
			n, err := New(url)
			if err != nil {
				if strings.Contains(err.Error(), pw) && !strings.Contains(before+middle+after, pw) {
					t.Errorf("%q: %v", url, err)
				}
				continue
			}
			if strings.Contains(n.Addr(), pw) && !strings.Contains(before+middle+after, pw) {
				t.Errorf("%q: address %s", url, n.Addr())
			}
			if again, err := New(n.Addr()); err != nil || again.Addr() != n.Addr() {
				t.Errorf("%q: its address %q is not its own: %v", url, n.Addr(), err)
			}
		}
	})
}

func TestURLsDeclareAMasterThatMayChange(t *testing.T) {
	declared := func(replicas int, within time.Duration) node.Replication {
		return node.Replication{Declared: true, Replicas: replicas, Within: within}
	}
	for url, want := range map[string]target{
		"redis://h?replicated=true":                                   {network: "tcp", addr: "h:6379", replication: declared(0, node.DefaultWithin)},
		"redis://h?replicated=false":                                  {network: "tcp", addr: "h:6379"},
		"rediss://h/2?replicated=true&wait=1&wait-timeout=50ms":       {network: "tcp", addr: "h:6379", tls: true, db: 2, replication: declared(1, 50*time.Millisecond)},
		"redis+sentinel://B,a:1/m":                                    {network: "tcp", sentinels: "a:1,b:26379", master: "m", replication: declared(0, node.DefaultWithin)},
		"valkeys+sentinel://u:p%2C@a,[::1],a/my.master/3?wait=2":      {network: "tcp", tls: true, user: "u", password: "p,", sentinels: "[::1]:26379,a:26379", master: "my.master", db: 3, replication: declared(2, node.DefaultWithin)},
		"redis+sentinel://[::1],[0:0:0:0:0:0:0:1],A:26379,a:026379/m": {network: "tcp", sentinels: "[::1]:26379,a:26379", master: "m", replication: declared(0, node.DefaultWithin)},
		"redis+sentinel://a/m?sentinel-user=s&sentinel-password=x%26": {network: "tcp", sentinels: "a:26379", master: "m", sentinelUser: "s", sentinelPassword: "x&", replication: declared(0, node.DefaultWithin)},
	} {
		if got, err := parse(url); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", url, got, err, want)
		}
	}
	const pw = "S3CRET"
	for url, want := range map[string]string{
		"redis://h?replicated=1":                            "neither true nor false",
		"redis://h?wait=1":                                  "need replicated=true",
		"redis://h?replicated=true&wait=x":                  "not a number of replicas",
		"redis://h?replicated=true&wait=-1":                 "is -1; it must be from 0 to 100",
		"redis://h?replicated=true&wait-timeout=1s":         "is 1s, but no number of replicas is given",
		"redis://h?replicated=true&wait=1&wait-timeout=7":   "not a duration",
		"redis://h?replicated=true&wait=1&wait-timeout=1ns": "must be from 1ms to 1m",
		"redis+sentinel://a":                                "no name of the master",
		"redis+sentinel:///m":                               "no host",
		"redis+sentinel://a,,b/m":                           "no host",
		"redis+sentinel://a:x/m":                            "percent-encoded",
		"redis+sentinel://a/m@x":                            "percent-encoded",
		"redis+sentinel://a/m/x":                            "the database",
		"redis+sentinel://a/m%20":                           "other characters than",
		"redis+sentinel://a/m?db=1":                         "want wait, wait-timeout, sentinel-user or sentinel-password",
		"redis+sentinel://a/m?replicated=false":             "leave the parameter out",
		"redis+sentinel://a/m?sentinel-user=u":              "needs a sentinel-password",
		"redis+sentinel://u:" + pw + ",x@a/m":               "percent-encoded",
		"redis+sentinel://a,u:" + pw + "@b/m":               "percent-encoded",
		"redis+sentinel://u:" + pw + "@a,b!/m":              "the host is neither",
		"redis+sentinel://a?sentinel-password=" + pw + "/":  "no name of the master",
	} {
		_, err := New(url)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), pw) {
			t.Errorf("%q: %v; want %q", url, err, want)
		}
	}
}
