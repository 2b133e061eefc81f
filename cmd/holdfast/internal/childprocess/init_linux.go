package childprocess

import (
	"os"
	"os/signal"
	"runtime"
	"syscall"
)

// As the first process of a container, this program is the parent of every orphan, and nobody else reaps them. It also
// starts processes of its own and waits for them, and a process that waits for any child would take their ends away.
// So the first process does nothing but reap and forward signals. A second process does the work.

// AsInit does the work of the first process of a container: it starts this program again, forwards signals to it and
// reaps all orphans. It returns the exit code of that process, or 128 + the signal that ended it. ran is false if this
// is not the first process, or if no second one can be started. The caller must not have started any process.
func AsInit() (code int, ran bool) {
	if os.Getpid() != 1 {
		return 0, false
	}
	self, err := self()
	if err != nil {
		return 0, false
	}
	signals := make(chan os.Signal, 64)
	for sig := syscall.Signal(1); sig < 32; sig++ {
		if forwards(sig) && !signal.Ignored(sig) {
			signal.Notify(signals, sig)
		}
	}
	files := append([]uintptr{0, 1, 2}, inherited()...)
	child, err := syscall.ForkExec(self, os.Args, &syscall.ProcAttr{Env: os.Environ(), Files: files})
	if err != nil {
		signal.Reset()
		return 0, false
	}
	go func() {
		tty := openTerminal()
		for sig := range signals {
			if sig := sig.(syscall.Signal); !byKeyHere(tty, sig) {
				_ = syscall.Kill(child, sig)
			}
		}
	}()
	runtime.LockOSThread() // wait4 occupies a thread for good
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil:
			return Exit{Status: 1}.Code(), true // the kernel knows no child, although this process did not reap its own
		case pid == child && status.Signaled():
			return Exit{Signal: status.Signal()}.Code(), true
		case pid == child:
			return Exit{Status: status.ExitStatus()}.Code(), true
		}
	}
}

// forwards reports whether the first process forwards a signal. It does not forward the signals that the kernel sends
// because of a fault or an end, and those that stop a process for the terminal.
func forwards(sig syscall.Signal) bool {
	switch sig {
	case syscall.SIGKILL, syscall.SIGSTOP, syscall.SIGCHLD, syscall.SIGURG, syscall.SIGPIPE, syscall.SIGTTIN, syscall.SIGTTOU,
		syscall.SIGSEGV, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGSYS, syscall.SIGPROF:
		return false
	}
	return true
}

// byKeyHere reports whether a key of the terminal sent the signal. Then the second process got it, too: it is in the
// same group. (In a group of its own, a key could stop it, and nobody could continue it.)
func byKeyHere(tty *terminal, sig syscall.Signal) bool {
	if tty == nil || sig != syscall.SIGINT && sig != syscall.SIGQUIT && sig != syscall.SIGTSTP && sig != syscall.SIGWINCH {
		return false
	}
	now, err := tty.foreground()
	return err == nil && now == syscall.Getpgrp()
}
