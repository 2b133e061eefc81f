package cli

// This file contains the help text of holdfast run.

const runForm = "holdfast run NAME -- COMMAND [ARG…]"

const runHelp = `run waits for the lock NAME, runs COMMAND while it holds the lock, and then
releases the lock. With --also OTHER, which may occur several times, it takes
all these locks or none, and COMMAND ends as soon as one of them is lost. Runs
that name the same locks in different orders do not wait for each other for
ever. At most 256 names can be given.

If no quorum of the nodes answers, run gives up with 69 after a second. If a
quorum has answered since the wait began, it gives up after --ttl instead, if
that is longer. --wait can end the wait sooner, and not make it longer. With
--wait 0 run tries once. run waits for the end of quarantines, and with
--through-outages for the end of all outages: then only --wait ends the wait.

A holdfast run inside COMMAND may ask for the same lock. It then runs its own
command at once, under the lock and with the token of the outer run. Its --ttl,
--at-least, --max-hold and --grace have no effect. In two cases the inner run
exits with 75 instead, also if --skip-ok is given. First: it has --no-reentry.
Second: it is not in the process group of the outer COMMAND (setsid, timeout
without --foreground, set -m). In the second case nobody would end its command
when the lock is lost.

Two inner runs at the same time run together. If an inner run has other names
too, it takes only those that the outer run does not have. It then waits while it
holds the outer locks. Two such runs can wait for each other for ever, unless all
take their locks in one order.

With --slots K the lock is a semaphore: up to K commands run at a time, each in a
slot of its own. Every run uses the slots below its own K. Lock and semaphore of
one NAME do not exclude each other. A run inside COMMAND that asks for the same
semaphore takes another slot; give it a --wait, because the outer run keeps its
slot meanwhile.

With --shared the lock is taken as by flock -s: any number of runs with --shared
have it together, and a run without --shared has it alone. Inside a run without
--shared, a run with --shared runs its command at once, as above. Inside a run
with --shared, a run without it would wait for itself: it exits with 75.

With --tick SCHEDULE run is a job of a fleet: a crontab that is the same on every
machine calls it, and one machine runs COMMAND for each tick. The tick is the
last one of SCHEDULE by the clocks of the nodes. A call that comes up to 5 s (a
tenth of a short period) before a tick waits for it. If every machine's clock is
further ahead of the nodes, each tick runs one period late: use holdfast cron,
whose timer follows the nodes. If the tick was taken, run exits with 0 and
prints nothing; with -v it says who ran it. If the run of an earlier tick goes
on, run waits for its end. SCHEDULE is a duration such as 1h, or a schedule as in
holdfast help cron. COMMAND finds its tick in HOLDFAST_TICK. holdfast jobs shows
the result.

NAME is nearly any text up to 1 KiB. run refuses a name whose braces { } do not
come in pairs, a name whose first pair of braces is empty, and a name that looks
like a key of holdfast. The arguments after the -- belong to COMMAND. It finds
in its environment:

  HOLDFAST_NAME    the name of the lock
  HOLDFAST_FENCE   the fencing token: larger than that of every earlier holder.
                   Send it with each write; the resource refuses smaller ones
  HOLDFAST_OWNER   the random id under which the nodes store the lock
  HOLDFAST_NAME_1, HOLDFAST_FENCE_1
                   the name and the fencing token of the first --also; those of
                   the second end in _2, and so on
  HOLDFAST_OWNERS  the owners of all locks under which COMMAND runs, the
                   innermost last
  HOLDFAST_FENCES  their fencing tokens, in the same order
  HOLDFAST_SLOT    with --slots: the slot, from 0; no other holder has it now
  HOLDFAST_GROUP   the process group of COMMAND

COMMAND also finds --nodes, --nodes-file, --max-ttl, --window, --cluster and
--durable in their variables, so a holdfast run inside uses the same nodes. If
HOLDFAST_NODES contains a user, a password or parameters (one of @ ? %), it is
empty for COMMAND, because logs and crash reports show the environment of a
command. If COMMAND contains another holdfast run, give --pass-nodes.

COMMAND and the processes that it starts form one process group. run passes INT,
TERM, HUP, QUIT, USR1, USR2 and Ctrl-Z on to the group. The group never goes on
without the lock:

  - The lock is lost. The group gets TERM, before another client can get the
    lock, and KILL after --grace. The exit code is 76. A process that needs more
    than a second to end after TERM overlaps with the next holder. Use a shorter
    --grace, or the token.
  - --max-hold is over. The group gets TERM, and KILL after --grace. Then the lock
    is released, and the next waiter gets it. The exit code is 76.
  - COMMAND exits and leaves other processes of its group behind. They get TERM
    and KILL in the same way, before the lock is released.
  - holdfast itself is killed with SIGKILL, or is stopped past the end of the
    lock. A second holdfast process, the watchdog, then ends the group in the
    same way. After a SIGKILL it sends KILL at the end of the lock at the
    latest. On Linux the command also gets TERM from the kernel. If a watchdog
    dies, another one replaces it, and stderr says so.
  - holdfast or its machine is paused between the lock and the start of COMMAND
    until the lock has ended. COMMAND is not started. The exit code is 76.

run cannot end these processes:

  - Processes that leave the group: setsid, a daemon, a container that a server
    starts, timeout inside a script (use timeout --foreground), a script with
    set -m. A holdfast run inside COMMAND has its command in another group, and
    passes TERM on to it.
  - Processes of another user. Write sudo holdfast run …, and not sudo after
    the --.
  - If holdfast is killed together with its watchdog, or within a second after
    the watchdog died: the processes that COMMAND started, and COMMAND if it
    ignores TERM. On other systems than Linux also any COMMAND.

With --metrics-textfile PATH run writes metrics for the textfile collector of
node_exporter: when it was called, if it was skipped, how long it waited, its
exit code, and when the last run of COMMAND began, how long it took and its
token. A run that is skipped with 0 keeps the exit code of the last run. PATH
ends in .prom, and each job needs a file of its own. A run inside COMMAND of the
same name writes no file. If PATH cannot be written, run says so and goes on. With
--tick the file also has the metrics of the job in the whole fleet, such as the end
of its last good run, whichever machine ran it.

While Ctrl-Z stops COMMAND, the lock is not renewed. If the lock ends in that
time, COMMAND ends too.

Exit codes: see holdfast help exit-codes.`
