package main

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// On each CPU, a process runs that yields to all others. It uses CPU time, and ends with the stage.
func TestEachCPUIsKeptAwake(t *testing.T) {
	on := &stage{state: usual}
	defer on.end()
	if err := on.awaken(); err != nil {
		t.Fatal(err)
	}
	if len(on.others) != len(processors) || len(processors) == 0 {
		t.Fatalf("%d processes for the CPUs %v", len(on.others), processors)
	}
	for i, p := range on.others {
		pid := p.cmd.Process.Pid
		err := eachThread(pid, func(thread int) error {
			class, err := unix.SchedGetAttr(thread, 0)
			if err == nil && class.Policy != unix.SCHED_IDLE {
				t.Errorf("thread %d for CPU %d has the class %d", thread, processors[i], class.Policy)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := cpusOf(t, pid); !slices.Equal(got, processors[i:i+1]) {
			t.Errorf("the process for CPU %d may use the CPUs %v", processors[i], got)
		}
		before := processCPU(pid)
		redistest.Eventually(t, time.Minute, "a spinning process uses CPU time", func() bool { return processCPU(pid) > before })
	}
	pid := on.others[0].cmd.Process.Pid
	on.end()
	if err := unix.Kill(pid, 0); !errors.Is(err, unix.ESRCH) {
		t.Errorf("the process remains: %v", err)
	}
}

// The bench is with the clients: the workers inherit its CPUs.
func TestPinnedServersHaveACPUForThemselves(t *testing.T) {
	in := state{pinned: true, delay: time.Millisecond}
	last := len(processors) - 1
	if last == 0 {
		if err := in.check(); err == nil {
			t.Error("pinned to one CPU")
		}
		return
	}
	on, err := newStage(1, in)
	if err != nil {
		t.Fatal(err)
	}
	server, relay := cpusOf(t, on.servers[0].cmd.Process.Pid), cpusOf(t, on.others[0].cmd.Process.Pid)
	clients := cpusOf(t, os.Getpid())
	on.end()
	if !slices.Equal(server, processors[last:]) || !slices.Equal(relay, processors[last:]) || !slices.Equal(clients, processors[:last]) {
		t.Errorf("of the CPUs %v, the server has %v, the relay %v, and clients %v", processors, server, relay, clients)
	}
	if got := cpusOf(t, os.Getpid()); !slices.Equal(got, processors) {
		t.Errorf("after that, the CPUs are %v instead of %v", got, processors)
	}
}

// cpusOf returns the CPUs that every thread of a process may use.
func cpusOf(t *testing.T, pid int) (list []int) {
	t.Helper()
	err := eachThread(pid, func(thread int) error {
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(thread, &set); err != nil {
			return err
		}
		var mine []int
		for _, cpu := range processors {
			if set.IsSet(cpu) {
				mine = append(mine, cpu)
			}
		}
		if list != nil && !slices.Equal(mine, list) {
			t.Errorf("thread %d of process %d may use %v, and others %v", thread, pid, mine, list)
		}
		list = mine
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Several pieces are on their way at a time. Each arrives in order, and not before its own delay has passed twice.
func TestARelayDelaysEachPiece(t *testing.T) {
	const delay, pieces, ahead = 2 * time.Millisecond, 200, 4
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ended := make(chan struct{})
	go func() { // sends back what it gets
		defer close(ended)
		if c, err := listener.Accept(); err == nil {
			_, _ = io.Copy(c, c)
			_ = c.Close()
		}
	}()
	on := &stage{state: state{delay: delay}, urls: []string{"redis://" + listener.Addr().String()}}
	defer on.end()
	if err := on.relay(); err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", address(on.urls[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(time.Minute))
	var sent []time.Duration
	for i := range pieces + ahead {
		var piece [4]byte
		if i < pieces {
			binary.BigEndian.PutUint32(piece[:], uint32(i))
			sent = append(sent, monotonic())
			if _, err := c.Write(piece[:]); err != nil {
				t.Fatal(err)
			}
		}
		if i < ahead {
			continue
		}
		if _, err := io.ReadFull(c, piece[:]); err != nil {
			t.Fatal(err)
		}
		back := i - ahead
		if got := binary.BigEndian.Uint32(piece[:]); got != uint32(back) {
			t.Fatalf("piece %d came in the place of piece %d", got, back)
		}
		if took := monotonic() - sent[back]; took < 2*delay {
			t.Errorf("piece %d came back after %v, with a delay of %v each way", back, took, delay)
		}
	}
	_ = c.Close()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the server does not notice that the client has ended the connection")
	}
}
