package cli

import "errors"

// These are the exit codes. The codes from 64 to 78 have their meaning in sysexits.h. The codes 126, 127 and 128 + n
// are those of a shell.
const (
	exitOK            = 0
	exitBroken        = 1   // demo: a promise was broken; dev: it could not start
	exitRunFailed     = 1   // jobs run: the run failed
	exitUnfit         = 1   // cron --check: this machine cannot run one of the jobs
	exitDeclined      = 1   // nodes trust, unlock: the answer was no
	exitWarn          = 1   // doctor: the worst finding is warn
	exitBad           = 2   // doctor: a finding is bad
	exitUsage         = 64  // EX_USAGE: a flag, an argument or an environment variable is wrong
	exitUnavailable   = 69  // EX_UNAVAILABLE: no quorum of the nodes
	exitInternal      = 70  // EX_SOFTWARE: anything else
	exitHeld          = 75  // EX_TEMPFAIL: another owner has the lock; leader, jobs: nobody leads, or the job never ran
	exitLost          = 76  // EX_PROTOCOL: the lock was lost while the command ran, or --max-hold ended the command
	exitNotExecutable = 126 // the command cannot be run
	exitNotFound      = 127 // there is no such command
	exitSignal        = 128 // 128 + n: ended by signal n
)

const exitCodesHelp = `Exit codes of holdfast run:

  the command's own    if it ran to its end under the lock
  64    a flag, an argument or an environment variable is wrong
  69    no quorum: too few nodes answered or vote; nothing was run
  70    an error inside holdfast
  75    somebody else has the lock, and --wait is over; nothing was run
        (0 with --skip-ok). Or, with --no-reentry, an outer holdfast run has
        the lock. Or, with --tick, the last tick is in the future, or the name
        has a value that is no job
  76    the lock was lost. The command was ended, or its last work may overlap
        with the next holder. If the lock was lost before the command started,
        nothing was run. --at-least keeps the lock after the command. If the
        lock was lost, or may have been lost, in that time, the command had
        ended by itself
  126   the command cannot be executed; nothing was run
  127   the command, or the interpreter in its #! line, does not exist; nothing
        was run
  128+n signal n ended the command, the wait for the lock, or the time of
        --at-least. After Ctrl-C on a terminal holdfast itself ends by INT.
        Shells report that as 130, and a script ends with it

A command can use these codes too. holdfast explains each code of its own on
stderr. It does not explain the code of a command.

holdfast lead exits with the command's own code, with 126, 127 and 128+n as above,
and with 75 inside a holdfast run or lead of the same name. If the leadership is
lost, it campaigns again. holdfast leader exits with 75 if nobody leads, and
holdfast jobs NAME if NAME never ran. holdfast jobs run exits with 1 if the run
failed, and with 75 if no machine began it. holdfast cron --check exits with 1 if
the file is right, but this machine cannot run one of its jobs.

The other commands exit with 0, with 64 as above, and with 69 if no quorum
answered (status, list, unlock, leader, jobs, bench) or votes (nodes, bench).
holdfast unlock exits with 75 if another has the lock. holdfast bench also exits
with 75 if somebody else took one of its names, with 76 if a lock was lost, and
with 128+n if signal n ended it. holdfast demo exits with 1 if a promise was
broken, holdfast dev if it could not start, and holdfast nodes trust and unlock
if their question was answered with no. Ctrl-C at this question changes nothing,
and shells report it as 130. holdfast doctor exits with 1 if its worst finding is
warn, and with 2 if one is bad. INT and TERM are the usual end of holdfast cron,
dev, ui and leader --watch: they exit with 0.`

// failure is an error with an exit code and a hint for the user.
type failure struct {
	code int
	err  error // nil: print no message
	hint string

	ended string // the limit that ended a wait; "" if no limit did
}

func (f *failure) Error() string {
	if f.err == nil {
		return ""
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// exit returns a failure that only sets the exit code. Its reason needs no message, or was printed before.
func exit(code int) error {
	if code == exitOK {
		return nil
	}
	return &failure{code: code}
}

// limit returns the limit that ended a wait, as the library would write it.
func (f *failure) limit() string {
	if f.ended == "" {
		return ""
	}
	return " (waiting ended: " + f.ended + ")"
}

func usage(err error, hint string) error { return &failure{code: exitUsage, err: err, hint: hint} }

// asFailure converts err into a failure with an exit code and a hint.
func asFailure(err error) *failure {
	var f *failure
	if errors.As(err, &f) {
		return f
	}
	return &failure{code: exitInternal, err: err}
}
