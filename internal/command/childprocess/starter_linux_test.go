package childprocess

import (
	"runtime"
	"syscall"
	"testing"
	"time"
)

func init() {
	wander = func() {
		// Each of these goroutines takes a thread for itself. The first thread is one of them, unless it is locked.
		for i := 0; i < 1000 && syscall.Gettid() == syscall.Getpid(); i++ {
			go func() {
				runtime.LockOSThread()
				select {}
			}()
			time.Sleep(100 * time.Microsecond)
		}
	}
}

// Exec keeps only the death signal of the thread that calls it.
func TestDeathSignalSurvivesAStarterThatChangesItsThread(t *testing.T) {
	t.Parallel()
	f := startParent(t, "-wander", "-watchdog=false", "sh", "-c", `trap "" TERM; echo command $$; while :; do sleep 0.05; done`)
	command := f.pid("command ")
	endLater(t, command)
	_ = f.cmd.Process.Kill()
	gone(t, patience, command)
}
