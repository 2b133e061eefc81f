package main

import (
	"bufio"
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
)

// This benchmark measures the server's CPU time for a lock and unlock, for different numbers of locks in one call of a
// script. A name without a record costs more: it is new, or was not locked for two hours.
//
//	go test -bench ScriptCost
func BenchmarkScriptCost(b *testing.B) {
	for _, n := range []int{1, 4, 16, 64} {
		b.Run(fmt.Sprintf("together=%d", n), func(b *testing.B) { scriptCost(b, n, false) })
	}
	for _, n := range []int{1, 64} {
		b.Run(fmt.Sprintf("new names/together=%d", n), func(b *testing.B) { scriptCost(b, n, true) })
	}
}

func scriptCost(b *testing.B, n int, anew bool) {
	s, urls := oneNode(b)
	opened, err := openScripts(urls)
	if err != nil {
		b.Fatal(err)
	}
	defer opened.close()
	l := opened.(*limit)
	speak := l.speak.(*scripts)
	conn, in := l.wires[0].conn, bufio.NewReader(l.wires[0].conn)
	lanes := make([]*lane, n)
	for i := range lanes {
		lanes[i] = &lane{name: fmt.Sprintf("bench/cost/%d", i)}
	}
	say := func(call func(*lane) *nodescript.Call, yes string) {
		var t nodescript.Together
		for _, ln := range lanes {
			if !t.Add(*call(ln)) {
				b.Fatal("not together")
			}
		}
		c := nodescript.Call{Op: t.Op, Keys: t.Keys, Args: t.Args}
		if _, err := conn.Write(speak.call(nil, &c, 0)); err != nil {
			b.Fatal(err)
		}
		reply, err := readReply(in)
		if err != nil {
			b.Fatal(err)
		}
		if n == 1 && string(reply) != yes || n > 1 && len(reply) != n*(3+len(yes)) {
			b.Fatalf("%q", reply)
		}
	}
	before, err := s.tally()
	if err != nil {
		b.Fatal(err)
	}
	made := n
	for b.Loop() {
		for _, ln := range lanes {
			if anew {
				made++
				ln.name = fmt.Sprintf("bench/cost/%d", made)
			}
			speak.draw(ln)
		}
		say(func(ln *lane) *nodescript.Call { return &ln.acquire }, "G0")
		say(func(ln *lane) *nodescript.Call { return &ln.release }, "D")
	}
	after, err := s.tally()
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64((after.CPU-before.CPU)/time.Nanosecond)/float64(n*b.N)/1000, "server-µs/cycle")
}
