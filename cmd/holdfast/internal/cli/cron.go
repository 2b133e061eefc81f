package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/childprocess"
	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/job"
	"github.com/holdfast-go/holdfast/metrics/promholdfast"
)

const cronHelp = `cron runs the jobs of FILE. Every machine of a fleet runs holdfast cron with the
same FILE, and each tick of a job runs on one of them. Ticks come from the clocks
of the nodes, so the clocks of the machines do not matter.

A line of FILE is a job, a setting, or a comment after #:

  # minute hour day month weekday   NAME   [OPTIONS]   COMMAND
  CRON_TZ=Europe/Berlin
  PATH=/usr/local/bin:/usr/bin:/bin
  30 2 * * *   nightly-report  [timeout=2h missed=once]  ./report.sh --full
  @daily       cleanup         ./cleanup.sh
  every 15m    sync            [on-crash=retry]          ./sync.sh | logger

NAME is the name of the job and of its lock, without spaces. The shell /bin/sh
runs COMMAND, or the one of a setting such as SHELL=/bin/bash. A % in COMMAND has
no special meaning, unlike in crontab. CRON_TZ is the time zone of the lines below
it; without it the zone is UTC. ON_FAILURE is a command that runs when a job below it
failed, crashed or is overdue; an empty one ends that. Other settings are variables of
the commands below them.

The options are:

  missed=skip|once|all   after an outage: leave missed ticks out (the default),
                         run once for all of them, or run each of them
  on-crash=skip|retry    if the machine that runs the job dies: nobody runs the tick
                         again (the default), or another machine does
  timeout=DURATION       end the command after this time
  grace=DURATION         with missed=skip: how late a tick may begin (default 1m,
                         or the time to the next tick if that is shorter)
  jitter=DURATION        begin up to this time after the tick
  ttl=DURATION           TTL of the job's lock
  retries=N              after a run that failed: repeat it up to N times, on any
                         machine, unless a later tick comes first
  backoff=DURATION       the time before each retry (default 1m)
  history=N              number of attempts that the nodes keep (default 50)
  user=NAME              run COMMAND as this user; only root can do that
  dir=PATH               run COMMAND in this folder, and not in that of cron
  env-file=PATH          a file with more variables of COMMAND: lines NAME=value,
                         and comments after #
  output=tail|none       store the last 2,048 bytes of the output on the nodes, in
                         plain text (the default), or nothing

Values have no blank and no ]. The stored output has *** in place of the passwords of
the nodes and of each value of the env-file that has six bytes or more. holdfast jobs
shows it to everybody who may read the nodes.

A machine that has no such user, folder or readable env-file, no SHELL, or no program
of a COMMAND that is one program with arguments, leaves the ticks to the others. It
looks again before each tick, and says once why. --check, and /readyz and the metric
holdfast_job_ready of --metrics-listen say it, too. A look that gets no answer within
5 s, for example of a file server, counts as missing.

The command of ON_FAILURE runs on one machine of the fleet, with the settings and the
user of the job and without a lock, for a minute at most. A machine runs those of one
job one after the other, and at most eight at a time. Of one job at most three wait;
cron says so of each that it leaves out. The command finds HOLDFAST_NAME,
HOLDFAST_TICK, HOLDFAST_HOST, HOLDFAST_ERROR and HOLDFAST_RESULT, which is one of:
  failed    the command failed, and no retry follows. HOLDFAST_EXIT is the exit code, and
            HOLDFAST_OUTPUT the end of the output that is stored. Else both are empty.
  crashed   the machine HOLDFAST_HOST died or lost the lock in the run. Another machine
            finds this, usually after the TTL. With on-crash=retry a run follows.
  overdue   no machine began the tick within a minute and its jitter. A machine that
            cannot run the job reports this, or one that comes later, once until the
            next run. A late run (missed=once or all) is not reported.

COMMAND finds HOLDFAST_TICK, its tick, and HOLDFAST_NAME, HOLDFAST_FENCE and
HOLDFAST_OWNER, as with holdfast run. It ends with the lock. HOLDFAST_NODES is
empty for COMMAND if it contains a user, a password or parameters (one of @ ? %).

HUP makes cron read FILE again. It reads the passwords in --nodes-file again for
each new connection, also without HUP. Commands that run go on to their end, and their
results are stored as usual. If FILE has a mistake or no job, or is no regular file,
the jobs stay as they are. So FILE may be a pipe, but cron reads it only at the start.
A job that left FILE does not count as overdue in holdfast jobs.
TERM and INT end cron: no job begins, and commands that run get TERM, and KILL
after --grace. With on-crash=retry another machine runs such a tick again.

With --quiet cron prints a line for each run that fails or crashes, and none for
a run that succeeds.

cron prints the output of commands with the name of the job before each line, unless
--plain-output is given. If nobody reads the output for more than a second, such as
after Ctrl-S, the jobs go on. Lines that do not fit are left out, and cron prints how
many.

--check reads FILE, prints the next ticks by the clock of this machine, each in its
time zone, and calls no node. It exits with 64 if FILE has a mistake or no job, and with 1
if FILE is right but this machine cannot run one of its jobs. docs/guide/jobs.md says
what each option guarantees.`

func (a *app) cron() *cobra.Command {
	var check, plain bool
	var listen listenAt
	grace := duration{zero: true, value: 10 * time.Second, given: true}
	cmd := &cobra.Command{
		Use:     "cron FILE",
		Short:   "Run the jobs of a file, each tick on one machine of a fleet",
		Long:    cronHelp + fmt.Sprintf(endpointHelp, ", if too few nodes\nvote, or the last read of FILE failed"),
		Example: "  holdfast cron --check /etc/holdfast/jobs\n  holdfast cron /etc/holdfast/jobs",
		Args:    one("file"),
		PreRunE: a.configure,
		RunE: func(cmd *cobra.Command, args []string) error {
			if check {
				listen = ""
			}
			end, err := a.endpoint(listen, promholdfast.Options{}, "jobs")
			if err != nil {
				return err
			}
			defer end.close()
			client, err := a.settings.open(a.talker, end.observe)
			if err != nil {
				return err
			}
			defer client.Close()
			jobs, err := readCrontab(args[0], allowed(client))
			if err != nil {
				return usage(err, "holdfast help cron explains the file")
			}
			if len(jobs) == 0 && check {
				return usage(fmt.Errorf("%s has no job", args[0]), "holdfast help cron explains the file")
			}
			if len(jobs) == 0 {
				a.say("cron: %s has no job; HUP reads it again", args[0])
			}
			for _, line := range doubts(args[0], jobs) {
				a.say("cron: %s", line)
			}
			unfit := misfits(jobs)
			for _, m := range unfit { // other machines may be able to run it
				a.say("cron: %s:%d: this machine cannot run job %q: %v", args[0], m.line, m.spec.Name, m.why)
			}
			if check {
				if err := printTicks(cmd.OutOrStdout(), jobs); err != nil || len(unfit) == 0 {
					return printed(err)
				}
				return exit(exitUnfit)
			}
			return a.runCron(client, args[0], jobs, grace.value, plain, end)
		},
	}
	cmd.Flags().BoolVar(&check, "check", false, "only check FILE, and print the next ticks")
	cmd.Flags().Var(&grace, "grace", "time between TERM and KILL when a command must end")
	cmd.Flags().BoolVar(&plain, "plain-output", false, "pass the output of commands on as it is, without the name of the job before each line, and store none")
	listen.register(cmd.Flags())
	return cmd
}

// readCrontab reads a cron file. allowed returns an error for a job that the settings do not allow.
func readCrontab(name string, allowed func(job.Spec) error) ([]cronJob, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return parseCrontab(name, f, allowed)
}

// printTicks prints the next ticks of each job.
func printTicks(out io.Writer, jobs []cronJob) error {
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "JOB\tSCHEDULE\tNEXT\tTHEN\tCOMMAND")
	for _, c := range jobs {
		schedule, err := job.ParseSchedule(c.spec.Schedule)
		if err != nil {
			return err // cannot happen, because parseCrontab has checked the schedule
		}
		next := schedule.Next(time.Now())
		in := func(t time.Time) string { return t.In(schedule.Location()).Format(time.RFC3339) }
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", printable.Quoted(c.spec.Name), schedule, in(next), in(schedule.Next(next)), printable.Quoted(shortened(c.command)))
	}
	return w.Flush()
}

// crond is a running holdfast cron.
type crond struct {
	*app
	client *holdfast.Client
	grace  time.Duration
	plain  bool    // the output of commands gets no names
	out    *outlet // for the output of commands, unless plain
	err    *outlet
	hard   context.Context // ends when running commands must end, too
	broken chan error      // receives the error of a job that can never run
	end    *endpoint       // nil without --metrics-listen

	mu   sync.Mutex
	jobs map[string]*cronEntry
	runs map[string][]*cronEntry // those that have not ended, by name, with those that a later entry replaced
	wait sync.WaitGroup

	hooks  sync.WaitGroup        // for the commands of ON_FAILURE; a job that ends may begin one
	places chan struct{}         // has place for those that run at a time
	queues map[string]*hookQueue // by job; mu guards it
}

func (a *app) runCron(client *holdfast.Client, file string, jobs []cronJob, grace time.Duration, plain bool, end *endpoint) error {
	if err := childprocess.Supported(); err != nil {
		return notStarted(err, "")
	}
	ends, reload := make(chan os.Signal, 4), make(chan os.Signal, 1)
	signal.Notify(ends, syscall.SIGTERM, syscall.SIGINT)
	a.endsBy(syscall.SIGTERM, syscall.SIGINT)
	signal.Notify(reload, syscall.SIGHUP)
	outliveReaders()
	hard, kill := context.WithCancel(context.Background())
	defer kill()
	d := &crond{app: a, client: client, grace: grace, plain: plain, hard: hard, broken: make(chan error, 1), end: end}
	d.jobs, d.runs = map[string]*cronEntry{}, map[string][]*cronEntry{}
	d.places, d.queues = make(chan struct{}, mostHooks), map[string]*hookQueue{}
	if err := end.serve(client, nil, end.unfit(d.readiness)); err != nil {
		return err
	}
	d.out, d.err = newOutlets(a.talker)
	d.replace(jobs)
	a.note("cron: %s of %s", printable.Count(len(jobs), "job"), file)
	if len(a.settings.nodes) == 0 {
		a.note("cron: no nodes are configured in HOLDFAST_NODES or --nodes; using the default, %s", defaultNode)
	}
	var failed error
	again := &rereading{cron: d, file: file}
	for {
		select {
		case <-reload:
			again.begin()
			continue
		case r := <-again.read:
			again.end(r)
			continue
		case s := <-ends:
			a.note("cron: %s: ending", s)
		case failed = <-d.broken:
		}
		break
	}
	d.replace(nil)
	kill()
	d.wait.Wait()
	d.hooks.Wait()
	d.out.finish()
	d.err.finish()
	return failed
}

// allowed returns a function that returns an error for a name or a TTL that the client's settings do not allow. It
// calls no node.
func allowed(client *holdfast.Client) func(job.Spec) error {
	over, cancel := context.WithCancel(context.Background())
	cancel() // with an ended context, a call checks the name and the TTL and then does nothing else
	return func(spec job.Spec) error {
		var options []holdfast.Option
		if spec.TTL > 0 {
			options = append(options, holdfast.WithTTL(spec.TTL))
		}
		_, err := client.Mutex(spec.Name, options...).TryLock(over)
		var bad *holdfast.ConfigError
		switch {
		case errors.As(err, &bad) && bad.Field == "TTL":
			return errors.New(bad.Named(func(field string) string {
				if field == bad.Field {
					return "option ttl"
				}
				return or(flagsOf[field], field)
			}))
		case errors.Is(err, holdfast.ErrBadName), errors.Is(err, holdfast.ErrBadTTL):
			return inFlags(err)
		}
		return nil
	}
}

// count returns the number of jobs that run.
func (d *crond) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.jobs)
}

// replace starts and stops jobs so that exactly these jobs run. It does not touch a job that is unchanged. It returns the
// number of jobs that are new or changed, and those that left the file.
func (d *crond) replace(jobs []cronJob) (changed int, left []*cronEntry) {
	d.mu.Lock()
	defer d.mu.Unlock()
	kept := map[string]bool{}
	for _, c := range jobs {
		kept[c.spec.Name] = true
		if old := d.jobs[c.spec.Name]; old != nil && old.same(c) {
			continue
		} else if old != nil {
			old.leave()
		}
		changed++
		d.start(c)
	}
	for name, old := range d.jobs {
		if !kept[name] {
			old.leave()
			delete(d.jobs, name)
			left = append(left, old)
		}
	}
	if len(jobs) > 0 { // otherwise cron ends, and the jobs that it had still count
		var specs []job.Spec
		for _, c := range jobs {
			specs = append(specs, c.spec)
		}
		d.end.setJobs(specs)
	}
	return changed, left
}
