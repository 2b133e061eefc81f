package main

import (
	"errors"
	"fmt"
	"net/netip"
	"time"

	"golang.org/x/sys/unix"
)

// relay is between clients and servers. It passes on each piece of a stream as it came, a fixed time later. Pieces that
// follow each other are on their way at the same time, and stay in order.
//
// It is one loop that waits for sockets and for a timer of the kernel, which is a few µs late. The timers of Go are up
// to 1 ms late in a program that does nothing else.
type relay struct {
	delay     time.Duration
	poll      int                   // the file descriptor of an epoll
	timer     int                   // that of a timer
	armed     time.Duration         // the instant for which the timer is set
	listeners map[int]unix.Sockaddr // the server behind each listening socket
	ends      map[int]*end
	way       []piece // all pieces on their way, in the order of their arrival
	spare     [][]byte
}

// end is a socket of a connection. Each connection has two: one to the client, and one to the server.
type end struct {
	fd    int
	other *end
}

// piece is a part of a stream. An empty one is its end.
type piece struct {
	to   *end
	due  time.Duration // by CLOCK_MONOTONIC
	data []byte
}

// newRelay listens for each server. It returns the addresses for the clients.
func newRelay(servers []string, delay time.Duration) (r *relay, urls []string, err error) {
	r = &relay{delay: delay, listeners: map[int]unix.Sockaddr{}, ends: map[int]*end{}}
	if r.poll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, nil, err
	}
	if r.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK); err != nil {
		return nil, nil, err
	}
	if err := r.watch(r.timer); err != nil {
		return nil, nil, err
	}
	for _, u := range servers {
		to, err := netip.ParseAddrPort(address(u))
		if err != nil {
			return nil, nil, err
		}
		fd, port, err := listen()
		if err == nil {
			err = r.watch(fd)
		}
		if err != nil {
			return nil, nil, err
		}
		r.listeners[fd] = &unix.SockaddrInet4{Addr: to.Addr().As4(), Port: int(to.Port())}
		urls = append(urls, fmt.Sprintf("redis://127.0.0.1:%d", port))
	}
	return r, urls, nil
}

func listen() (fd, port int, err error) {
	if fd, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return 0, 0, err
	}
	if err := unix.Bind(fd, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, 0, err
	}
	if err := unix.Listen(fd, unix.SOMAXCONN); err != nil {
		return 0, 0, err
	}
	bound, err := unix.Getsockname(fd)
	if err != nil {
		return 0, 0, err
	}
	return fd, bound.(*unix.SockaddrInet4).Port, nil
}

// run relays until it fails.
func (r *relay) run() error {
	events := make([]unix.EpollEvent, 64)
	for {
		n, err := unix.EpollWait(r.poll, events, -1)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
		for _, e := range events[:max(n, 0)] {
			fd := int(e.Fd)
			if server := r.listeners[fd]; server != nil {
				if err := r.accept(fd, server); err != nil {
					return err
				}
			} else if from := r.ends[fd]; from != nil {
				r.take(from)
			}
		}
		if err := r.deliver(); err != nil {
			return err
		}
	}
}

func (r *relay) watch(fd int) error {
	return unix.EpollCtl(r.poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: unix.EPOLLIN, Fd: int32(fd)})
}

// accept makes a connection to the server for a new client.
func (r *relay) accept(listener int, server unix.Sockaddr) error {
	near, _, err := unix.Accept4(listener, unix.SOCK_CLOEXEC)
	if err != nil {
		return err
	}
	far, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	client, back := &end{fd: near}, &end{fd: far}
	client.other, back.other = back, client
	r.ends[near], r.ends[far] = client, back
	if err := unix.Connect(far, server); err != nil {
		r.hangUp(client) // as a client without a relay would notice
		return nil
	}
	for _, fd := range []int{near, far} {
		if err := errors.Join(unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1), r.watch(fd)); err != nil {
			return err
		}
	}
	return nil
}

// take reads what has arrived at an end, and sends it on its way.
func (r *relay) take(from *end) {
	var data []byte
	if n := len(r.spare); n > 0 {
		data, r.spare = r.spare[n-1], r.spare[:n-1]
	} else {
		data = make([]byte, 16<<10)
	}
	n, err := unix.Read(from.fd, data)
	if err != nil || n == 0 {
		n = 0
		_ = unix.EpollCtl(r.poll, unix.EPOLL_CTL_DEL, from.fd, nil)
	}
	// The time is read after the data, so that no piece arrives early.
	r.way = append(r.way, piece{to: from.other, due: monotonic() + r.delay, data: data[:n]})
}

// deliver writes all pieces that are due, and sets the timer for the next one.
func (r *relay) deliver() error {
	for len(r.way) > 0 {
		p := r.way[0]
		if p.due > monotonic() {
			if r.armed == p.due {
				return nil
			}
			r.armed = p.due
			at := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(p.due))}
			return unix.TimerfdSettime(r.timer, unix.TFD_TIMER_ABSTIME, &at, nil)
		}
		r.way = r.way[1:]
		r.write(p)
		r.spare = append(r.spare, p.data[:cap(p.data)])
	}
	r.armed = 0
	// Otherwise the timer would remain expired, and the loop would not wait.
	return unix.TimerfdSettime(r.timer, 0, &unix.ItimerSpec{}, nil)
}

// write gives a piece to its receiver. It waits if the receiver does not read: servers and the libraries' readers
// always do.
func (r *relay) write(p piece) {
	if r.ends[p.to.fd] != p.to {
		return // the connection has ended
	}
	for rest := p.data; len(rest) > 0; {
		n, err := unix.Write(p.to.fd, rest)
		if err != nil {
			r.hangUp(p.to)
			return
		}
		rest = rest[n:]
	}
	if len(p.data) == 0 {
		r.hangUp(p.to)
	}
}

// hangUp closes both ends of a connection.
func (r *relay) hangUp(e *end) {
	for _, x := range []*end{e, e.other} {
		delete(r.ends, x.fd)
		_ = unix.Close(x.fd)
	}
}
