package main

import (
	"bufio"
	"crypto/sha1"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// This benchmark compares the scripts of a release and of a renewal with the commands of newer servers that compare a
// value and then delete or store it. The commands keep no record, no token and no queue, so they cannot replace the
// scripts. The difference is the most that such a command could save. It needs a server that has them:
//
//	SERVER=/path/to/valkey-server go test -run '^$' -bench PlainCommands ./verify/bench
func BenchmarkPlainCommands(b *testing.B) {
	const names = 256
	for _, what := range []string{"release/script", "release/bare script", "release/DELIFEQ", "release/DELIFEQ in a script", "extend/script", "extend/SET IFEQ"} {
		b.Run(what, func(b *testing.B) {
			s, urls := oneNode(b)
			open := openBare
			if what == "release/script" || what == "extend/script" {
				open = openScripts
			}
			opened, err := open(urls)
			if err != nil {
				b.Fatal(err)
			}
			defer opened.close()
			l := opened.(*limit)
			conn, in := l.wires[0].conn, bufio.NewReader(l.wires[0].conn)
			say := func(request []byte, want string) {
				b.Helper()
				if _, err := conn.Write(request); err != nil {
					b.Fatal(err)
				}
				reply, err := readReply(in)
				if err != nil && (strings.Contains(strings.ToLower(err.Error()), "unknown") || strings.Contains(err.Error(), "syntax error")) {
					b.Skipf("this server has no such command: %v", err)
				}
				if err != nil || string(reply) != want {
					b.Fatalf("%q, %v; want %q", reply, err, want)
				}
			}
			lanes := make([]*lane, names)
			for i := range lanes {
				lanes[i] = &lane{name: fmt.Sprintf("bench/plain/%d", i), id: i}
			}
			var out []byte
			acquire := func() {
				for _, ln := range lanes {
					ln.all++
					l.speak.draw(ln)
					out = l.speak.acquire(out[:0], ln, 0)
					if _, err := conn.Write(out); err != nil {
						b.Fatal(err)
					}
					if reply, err := readReply(in); err != nil || !l.speak.granted(reply) {
						b.Fatalf("acquire: %q, %v", reply, err)
					}
				}
			}
			var tokens [names]int64 // of the leases that are extended
			var drawn stamps
			if strings.HasPrefix(what, "extend") {
				acquire()
			}
			if what == "extend/script" {
				for i, ln := range lanes {
					tokens[i], _ = strconv.ParseInt(ln.release.Args[1], 10, 64) // the only stamp of this owner
				}
			}
			command := map[bool]string{true: "evalsha", false: strings.ToLower(strings.Fields(strings.Split(what, "/")[1])[0])}[strings.HasSuffix(what, "script")]
			const inside = `return redis.call('DELIFEQ', KEYS[1], ARGV[1])`
			if what == "release/DELIFEQ in a script" {
				if err := s.client.ScriptLoad(b.Context(), inside).Err(); err != nil {
					b.Fatal(err)
				}
			}
			usec, next := -spent(b, s, command), names
			for b.Loop() {
				if next == names { // what follows is not measured
					b.StopTimer()
					usec += spent(b, s, command)
					if strings.HasPrefix(what, "release") {
						acquire()
					}
					usec -= spent(b, s, command)
					next = 0
					b.StartTimer()
				}
				ln := lanes[next]
				switch what {
				case "release/script", "release/bare script":
					out = l.speak.release(out[:0], ln, 0)
					say(out, map[bool]string{true: "D", false: "1"}[what == "release/script"])
				case "release/DELIFEQ":
					out = request(out[:0], "DELIFEQ", ln.name, ln.owner)
					say(out, "1")
				case "release/DELIFEQ in a script":
					out = request(out[:0], "EVALSHA", fmt.Sprintf("%x", sha1.Sum([]byte(inside))), "1", ln.name, ln.owner)
					say(out, "1")
				case "extend/script":
					now := drawn.draw()
					c := nodescript.ExtendCall(nodescript.Lock{Name: ln.name}, ln.owner, tokens[next], now, now+limitTTL.Microseconds(), limitTTL, limitWindow)
					out = l.speak.(*scripts).call(out[:0], &c, 0)
					say(out, "E")
				case "extend/SET IFEQ":
					out = request(out[:0], "SET", ln.name, ln.owner, "IFEQ", ln.owner, "PX", strconv.FormatInt(limitTTL.Milliseconds(), 10))
					say(out, "OK")
				}
				next++
			}
			usec += spent(b, s, command)
			b.ReportMetric(usec/float64(b.N), "server-µs/op")
		})
	}
}

// spent returns the time that the server has used in a command, in µs.
func spent(b *testing.B, s *server, command string) (usec float64) {
	b.Helper()
	info, err := s.client.Info(b.Context(), "commandstats").Result()
	if err != nil {
		b.Fatal(err)
	}
	if m := regexp.MustCompile(`cmdstat_` + command + `:calls=\d+,usec=(\d+)`).FindStringSubmatch(info); m != nil {
		usec, _ = strconv.ParseFloat(m[1], 64)
	}
	return usec
}
