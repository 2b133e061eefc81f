//go:build linux

package incident

import (
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/holdfast-go/holdfast/internal/redistest"
)

// fault seeds something that goes wrong, and returns what each view must say of it.
type fault struct {
	name string
	seed func(*ward) map[string]cell
}

// says returns a cell.
func says(texts ...string) cell { return cell{says: texts} }

// but adds texts that the view must not show.
func (c cell) but(texts ...string) cell {
	c.not = append(c.not, texts...)
	return c
}

// silent is the row of a fault for which one of three nodes does not vote. reason is a regular expression of its reason,
// and check the check of doctor that finds it.
func (w *ward) silent(i int, reason, check string) map[string]cell {
	addr, port := regexp.QuoteMeta(w.addr(i)), fmt.Sprint(w.servers[i].Port())
	return map[string]cell{
		"nodes":   says(addr+` .*`+reason, `exit code 0`),
		"doctor":  says(`bad +`+check+` +`+addr, `fix: `, `0 more may fail`, `exit code 2`),
		"top":     says(`2 of 3 nodes vote`, port+`.*`+reason),
		"page":    says(`bad: 2 of 3 nodes vote: if one more fails, no lock can be taken`, `bad: node .*`+port+`.* does not vote: .*`+reason).but(`not known`),
		"metrics": says(`holdfast_node_votes\{[^}]*node="` + addr + `"[^}]*\} 0`),
		"alerts":  says(`HoldfastNodeDoesNotVote: .*` + port).but(`NoQuorum`),
	}
}

var faults = []fault{
	{"a node's memory is full", func(w *ward) map[string]cell {
		w.servers[2].MustDo(w.t, "CONFIG", "SET", "maxmemory", "1")
		return w.silent(2, `memory is full`, "memory")
	}},
	{"a node is frozen", func(w *ward) map[string]cell {
		w.servers[2].Freeze()
		cells := w.silent(2, `(timed out|no answer in time)`, "answer")
		cells["doctor"] = says(append(cells["doctor"].says, `accepts connections, but does not answer`)...)
		return cells
	}},
	{"two of three nodes are frozen", func(w *ward) map[string]cell {
		w.start("run", "kept", "--", "sleep", "1000") // somebody has a lock that nobody can read now
		redistest.Eventually(w.t, 20*time.Second, "a holder", func() bool { out, _ := w.run("list"); return strings.Contains(out, "kept") })
		w.servers[1].Freeze()
		w.servers[2].Freeze()
		return map[string]cell{
			"nodes":   says(`0 of 3 nodes vote; a lock needs 2`, `exit code 69`),
			"doctor":  says(`0 of 3 nodes vote; a lock needs 2, so nobody gets a lock`, `accepts connections, but does not answer`, `exit code 2`),
			"top":     says(`0 of 3 nodes vote`, `not known`).but(`[Nn]obody has a lock`),
			"page":    says(`bad: 0 of 3 nodes vote: no lock can be taken or renewed`, `bad: the locks are not known`, `too few others answer`).but(`nothing needs attention`, `accept writes`),
			"metrics": says(`holdfast_node_up\{[^}]*\} 0`, `holdfast_node_votes\{[^}]*\} 0`).but(`holdfast_node_votes\{[^}]*\} 1`),
			"alerts":  says(`HoldfastNoQuorum: `),
		}
	}},
	{"a node has a new password", func(w *ward) map[string]cell {
		w.servers[2].MustDo(w.t, "ACL", "SETUSER", "admin", "on", ">x", "~*", "&*", "+@all")
		w.servers[2].MustDo(w.t, "CONFIG", "SET", "requirepass", "new")
		_, _ = w.servers[2].Do("AUTH", "admin", "x")
		_, _ = w.servers[2].Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
		_, _ = w.servers[2].Do("CLIENT", "KILL", "TYPE", "pubsub")
		cells := w.silent(2, `NOAUTH`, "answer")
		cells["doctor"] = says(`bad +answer +`+regexp.QuoteMeta(w.addr(2)), `refuses this user`, `fix: put the user and the password into the URL`, `exit code 2`)
		return cells
	}},
	{"a node's clock is off", func(w *ward) map[string]cell {
		w.servers[2].Step(5 * time.Second)
		cells := w.silent(2, `clock`, "clock")
		cells["metrics"] = says(append(cells["metrics"].says, `holdfast_node_clock_offset_seconds\{[^}]*\} [45]\.`)...)
		cells["alerts"] = says(append(cells["alerts"].says, `HoldfastClockOff: .*`+fmt.Sprint(w.servers[2].Port()))...)
		return cells
	}},
	{"a job hangs", func(w *ward) map[string]cell {
		w.cron("every 2s hung sleep 1000")
		redistest.Eventually(w.t, 30*time.Second, "the job to run", func() bool { out, _ := w.run("jobs"); return strings.Contains(out, "running") })
		return map[string]cell{
			"nodes":   says(`exit code 0`),
			"doctor":  says(`"hung": it has run for`, `fix: end the command`),
			"top":     says(`job hung has run for .* its next tick was due`),
			"page":    says(`bad: job hung has run for .* its next tick was due`),
			"metrics": says(`holdfast_job_running_seconds\{[^}]*name="hung"[^}]*\} [1-9]`),
			"alerts":  says(`HoldfastJobHung: Job hung has run for`).but(`NoQuorum`, `NodeDoesNotVote`),
		}
	}},
	{"a job failed on one machine", func(w *ward) map[string]cell {
		w.cron("every 5s report echo disk is full; exit 3", "every 2s other true")
		redistest.Eventually(w.t, 30*time.Second, "the job to fail", func() bool { out, _ := w.run("jobs"); return strings.Contains(out, "failed") })
		return map[string]cell{
			"nodes":   says(`exit code 0`),
			"doctor":  says(`report`, `exit status 3`, `fix: `),
			"top":     says(`report .*failed`),
			"page":    says(`bad: job report failed .*exit status 3`),
			"metrics": says(`holdfast_job_runs_total\{[^}]*name="report"[^}]*result="failed"[^}]*\} [1-9]`),
			"alerts":  says(`HoldfastJobFailed: .*report`).but(`HoldfastJobFailed: .*other`),
		}
	}},
	{"a leader changes all the time", func(w *ward) map[string]cell {
		for i := range 2 {
			go func() {
				for w.t.Context().Err() == nil { // a leader that ends is started again
					c := w.command("lead", "--publish", fmt.Sprint("machine", i), "captain", "--", "sleep", fmt.Sprint(1+i))
					_ = c.Run()
				}
			}()
		}
		return map[string]cell{
			"nodes":   says(`exit code 0`),
			"doctor":  says(`warn +leaders`, `"captain": the leader changes all the time: 4 terms`, `fix: `),
			"top":     says(`! election captain has changed its leader [0-9]+ times`),
			"page":    says(`warn: election captain has changed its leader [0-9]+ times`),
			"metrics": says(`holdfast_election_term\{[^}]*name="captain"[^}]*\} [1-9]`),
			"alerts":  says(`HoldfastLeaderFlaps: captain has changed its leader [0-9]+ times`).but(`NoQuorum`, `HoldfastNoLeader`),
		}
	}},
	{"a lock is stuck", func(w *ward) map[string]cell {
		holder := w.start("run", "stuck", "--", "sleep", "1000")
		redistest.Eventually(w.t, 20*time.Second, "a holder", func() bool { out, _ := w.run("list"); return strings.Contains(out, "stuck") })
		w.start("run", "stuck", "--", "true")
		w.t.Cleanup(func() { _ = holder.Process.Signal(syscall.SIGCONT) })
		return map[string]cell{
			"nodes":   says(`exit code 0`),
			"doctor":  says(`warn +stuck`, `"stuck": held by `, `holdfast unlock`),
			"top":     says(`! 1 waiter for stuck since `),
			"page":    says(`1 waiter for stuck since `),
			"metrics": says(`holdfast_longest_wait_seconds\{[^}]*name="stuck"[^}]*\} [1-9]`),
			"alerts":  says(`HoldfastLockStuck: Somebody has waited for the lock stuck for`).but(`NoQuorum`),
		}
	}},
	{"a list names another node", func(w *ward) map[string]cell {
		other := redistest.Start(w.t)
		urls := []string{w.servers[0].URL(), w.servers[1].URL(), other.URL()}
		w.list(urls...)
		w.start("lead", "--metrics-listen", w.fleet, "captain", "--", "sleep", "1000") // a machine with the wrong list
		return map[string]cell{
			"nodes":   says(`configuration differs|is not one of`),
			"doctor":  says(`bad +(members|settings)`, `fix: `),
			"top":     says(`! [01] of 3 nodes votes?`, `differs`),
			"page":    says(`nothing needs attention`), // the page has the right list
			"metrics": says(`holdfast_node_misconfigured\{[^}]*\} 1`),
			"alerts":  says(`HoldfastOtherConfiguration: `+w.fleet+` has other settings or another list of nodes`).but(`NoQuorum`, `NodeDoesNotVote`),
		}
	}},
}
