package redistest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// The ports of test servers are below the ephemeral range. Inside that range, the kernel may give the port of a killed
// server to an outgoing connection. A connection that dials its own port may even be connected to itself. Embedded
// nodes have the ports from 20000 on.
const (
	firstPort = 10_000
	blocks    = 100
	blockSize = 100
)

// ports hands out the ports of this process. The port of a killed server is free until the server is back. A caller of
// that port must not reach another server, also not one of another test process. So a process reserves whole blocks of
// ports by a lock on a file, and hands out each port once.
type ports struct {
	dir string // has a file for each block; all processes of the machine use the same one

	mu   sync.Mutex
	held []*os.File // the locked files; the locks end with the process
	mine map[int]bool
	left []int // ports of the reserved blocks that were not handed out
}

var ofProcess = ports{dir: filepath.Join(os.TempDir(), "holdfast-test-ports")}

// freePort returns a port on which nobody listens.
func freePort() int {
	for {
		port := ofProcess.next()
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			_ = l.Close()
			return port
		}
	}
}

// next returns the next port. It returns a port again only if no block is left, because the servers that came first are
// gone then.
func (p *ports) next() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.left) == 0 && !p.reserve() {
		for b := range p.mine {
			p.add(b)
		}
		if len(p.left) == 0 { // the folder cannot be used, or other processes have all blocks
			p.add(rand.IntN(blocks))
		}
	}
	port := p.left[len(p.left)-1]
	p.left = p.left[:len(p.left)-1]
	return port
}

// reserve locks one more block. It reports false if no block is left.
func (p *ports) reserve() bool {
	_ = os.MkdirAll(p.dir, 0o777)
	for _, b := range rand.Perm(blocks) {
		if p.mine[b] {
			continue
		}
		f, err := os.OpenFile(filepath.Join(p.dir, strconv.Itoa(b)), os.O_CREATE|os.O_RDWR, 0o666)
		if err != nil {
			continue
		}
		if lockFile(f) != nil {
			_ = f.Close()
			continue
		}
		if p.mine == nil {
			p.mine = map[int]bool{}
		}
		p.held, p.mine[b] = append(p.held, f), true
		p.add(b)
		return true
	}
	return false
}

func (p *ports) add(block int) {
	for _, i := range rand.Perm(blockSize) {
		p.left = append(p.left, firstPort+block*blockSize+i)
	}
}
