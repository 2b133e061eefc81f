package redistest

import (
	_ "embed"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// The name ends in .txt because the go command refuses C sources in a package
// without cgo.
//
//go:embed clockshim.c.txt
var clockSource []byte

// clockLibrary compiles the shim once per test process. The result stays in memory. Each server gets a copy in its own
// directory, so no file is left after a test.
var clockLibrary = sync.OnceValues(func() ([]byte, error) {
	if _, err := exec.LookPath("cc"); err != nil {
		return nil, fmt.Errorf("redistest: the clock shim needs a C compiler; run: make deps")
	}
	dir, err := os.MkdirTemp("", "redistest-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	source, library := filepath.Join(dir, "clockshim.c"), filepath.Join(dir, "clockshim.so")
	if err := os.WriteFile(source, clockSource, 0o600); err != nil {
		return nil, err
	}
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("redistest: compile the clock shim: %w: %s", err, out)
	}
	return os.ReadFile(library)
})

func (s *Server) clockPath() string { return filepath.Join(s.dir, "clock") }

func (s *Server) prepareClock() error {
	lib, err := clockLibrary()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.dir, "clockshim.so"), lib, 0o700); err != nil {
		return err
	}
	return os.WriteFile(s.clockPath(), make([]byte, 32), 0o600)
}

func (s *Server) clockEnv() []string {
	return []string{"LD_PRELOAD=" + filepath.Join(s.dir, "clockshim.so"), "CLOCKSHIM=" + s.clockPath()}
}

// Step sets the difference between the server's wall clock and the real time to d. A second Step replaces the first. A
// clock that [Server.SetClock] stopped runs again. The setting survives restarts.
func (s *Server) Step(d time.Duration) {
	s.t.Helper()
	// The server may read its clock between these writes. The offset is written first, so that the clock never shows a
	// time that belongs to neither the old nor the new setting.
	s.setWord(0, d.Microseconds())
	s.setWord(1, 0)
	s.setWord(2, 0)
}

// Rate makes the server's wall clock run at f times its speed from now on. The clock starts with its present time.
// [Server.Step] ends this.
func (s *Server) Rate(f float64) {
	s.t.Helper()
	s.setWord(2, 0) // stop the old rate before the instant of its start changes
	s.setWord(3, time.Now().UnixMicro())
	s.setWord(2, int64((f-1)*1e6))
}

// SetClock stops the server's wall clock at exactly us, in µs since the epoch.
func (s *Server) SetClock(us int64) {
	s.t.Helper()
	s.setWord(1, us)
}

// ResetClock sets the server's clock to the real time again.
func (s *Server) ResetClock() {
	s.t.Helper()
	s.Step(0)
}

func (s *Server) setWord(i int64, v int64) {
	s.t.Helper()
	if !s.cfg.clock {
		s.t.Fatal("redistest: the clock is the machine's: start the server with WithClock()")
	}
	f, err := os.OpenFile(s.clockPath(), os.O_WRONLY, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt(binary.NativeEndian.AppendUint64(nil, uint64(v)), 8*i); err != nil {
		s.t.Fatal(err)
	}
}
