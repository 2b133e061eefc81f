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

// Exec keeps only the death signal of the thread that calls it. Without a watchdog the signal is KILL, otherwise TERM.
func TestDeathSignalSurvivesAStarterThatChangesItsThread(t *testing.T) {
	t.Parallel()
	const works = `echo command $$; while :; do sleep 0.05; done`
	for name, frozen := range map[string]bool{"no watchdog": false, "a frozen watchdog": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var f *family
			if frozen {
				f = startParent(t, "-wander", "sh", "-c", works)
				dog := f.pid("watchdog ")
				t.Cleanup(func() { send(t, dog, syscall.SIGKILL) })
				send(t, dog, syscall.SIGSTOP)
			} else {
				f = startParent(t, "-wander", "-watchdog=false", "sh", "-c", `trap "" TERM; `+works)
			}
			command := f.pid("command ")
			endLater(t, command)
			_ = f.cmd.Process.Kill()
			gone(t, patience, command)
		})
	}
}
