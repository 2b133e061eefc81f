package main

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"github.com/holdfast-go/holdfast/internal/quantile"
)

// pinger sends bare PINGs, one at a time, to each node in turn. It has its own connection to each node. It measures a
// round trip without a client library and without other calls on the connection.
type pinger struct {
	conns []net.Conn
	in    []*bufio.Reader
	sent  []int // by node
	next  int
}

func newPinger(urls []string) (*pinger, error) {
	p := &pinger{sent: make([]int, len(urls))}
	for _, u := range urls {
		c, err := net.Dial("tcp", address(u))
		if err != nil {
			p.close()
			return nil, err
		}
		p.conns, p.in = append(p.conns, c), append(p.in, bufio.NewReader(c))
	}
	return p, nil
}

func (p *pinger) close() {
	for _, c := range p.conns {
		_ = c.Close()
	}
}

var ping = []byte("*1\r\n$4\r\nPING\r\n")

// pong is a PING that was answered.
type pong struct{ at, took time.Duration }

func (p *pinger) ping() (pong, error) {
	i := p.next
	p.next = (i + 1) % len(p.conns)
	p.sent[i]++
	begin := monotonic()
	if _, err := p.conns[i].Write(ping); err != nil {
		return pong{}, err
	}
	reply, err := readReply(p.in[i])
	took := monotonic() - begin
	if err == nil && string(reply) != "PONG" {
		err = fmt.Errorf("PING: %q", reply)
	}
	return pong{begin, took}, err
}

// paced sends PINGs until an instant, with random pauses of 2 to 6 ms. So the PINGs are little load, and do not come in
// step with holders that hold the lock for a fixed number of ms.
func (p *pinger) paced(until time.Time) (pongs []pong, err error) {
	for {
		time.Sleep(2*time.Millisecond + rand.N(4*time.Millisecond))
		if !time.Now().Before(until) {
			return pongs, nil
		}
		one, err := p.ping()
		if err != nil {
			return nil, err
		}
		pongs = append(pongs, one)
	}
}

// tight sends n PINGs without a pause.
func (p *pinger) tight(n int) (pongs []pong, err error) {
	for range n {
		one, err := p.ping()
		if err != nil {
			return nil, err
		}
		pongs = append(pongs, one)
	}
	return pongs, nil
}

// middlePing returns the median in µs.
func middlePing(pongs []pong) float64 {
	var took []time.Duration
	for _, p := range pongs {
		took = append(took, p.took)
	}
	return micros(quantile.Of(took).Median())
}

// inGaps returns the PINGs that were sent while nobody had the lock.
func inGaps(pongs []pong, gaps []handoff) (list []pong) {
	next := 0
	for _, p := range pongs {
		for next < len(gaps) && gaps[next].at < p.at {
			next++
		}
		if next < len(gaps) && p.at >= gaps[next].at-gaps[next].gap {
			list = append(list, p)
		}
	}
	return list
}

func micros(d time.Duration) float64 { return float64(d) / 1e3 }
