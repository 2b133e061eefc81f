package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/cmd/holdfast/internal/doctor"
	"github.com/holdfast-go/holdfast/internal/answers"
	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/verdict"
)

func (a *app) trust() *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "trust",
		Short: "Vouch that no lock is alive on these nodes",
		Long: `trust is an operator's statement that no lock can be alive on these nodes, for
example because they are new. A node that restarted or was emptied does not vote
until every lock that it may have forgotten has ended: after --max-ttl +
--window. With this statement it votes after nine windows, 2.25 s if --window is
250ms. trust waits for that time.

One exception: if the other nodes of the set kept their data, a node that lost
its data or is new waits for its place among the members. The place becomes free
up to 4 s after a whole quarantine, and nothing shortens this wait. trust waits
for that time too.

It also makes this command's --max-ttl, --window, --durable, --cluster and number
of nodes those of the node set. From then on the nodes refuse clients with other
values, and these clients lose their locks.

If the statement is false, two owners can hold the same lock. trust first says
which locks the nodes know. A node that lost its data does not know those that it
had, so look at the clients, too.

On a Redis Cluster trust only replaces other values of these flags. Each hash slot that
had other values then has a whole quarantine, and nothing shortens that.

Servers that were never used need no trust if all of them are on this machine, at
127.0.0.1 without a proxy, and there is no --cluster: the first lock comes at once.

On a terminal trust first asks for a confirmation, unless --yes is given. In a
script --yes is needed. If the answer is no, trust exits with 1. Ctrl-C at the
question vouches for nothing; shells report it as 130. If another node restarts
meanwhile, trust asks again.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := none(cmd, args); err != nil {
				return err
			}
			return needsYes(cmd, yes)
		},
		PreRunE: a.configure,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ask := a.confirmed
			if yes {
				ask = nil
			}
			return a.withNodes(func(client *holdfast.Client) error { return a.vouch(cmd.OutOrStdout(), client, ask) })
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	return cmd
}

// vouch vouches for the nodes that do not vote, if ask returns true. If ask is nil, vouch does not ask.
func (a *app) vouch(out io.Writer, client *holdfast.Client, ask func(nodes int) bool) error {
	ctx := context.Background()
	list := admin.Nodes(ctx, client)
	told := map[string]bool{}
	if len(waitingOf(list)) > 0 {
		tell := a.say // also with --quiet, because the question is about these locks
		if ask == nil {
			tell = a.note
		}
		if _, none := tellLocks(client, told, tell); none {
			tell("no node that answers knows a lock of Holdfast that is alive. A node that lost its data does not know the locks that it had")
		}
	}
	again := false // the question was repeated because of new locks
	for ask != nil && len(waitingOf(list)) > 0 {
		for _, n := range list {
			if vouchable(n) {
				a.say("node %s", n) // also with --quiet, because the question is about this node
			}
		}
		if !ask(len(waitingOf(list))) {
			return &failure{code: exitDeclined, err: errors.New("nothing was vouched for")}
		}
		// The operator's yes is only about the nodes as they were printed. If a node has restarted since then, it may
		// have forgotten a lock, and Trust would vouch for it, too. So look again.
		now := admin.Nodes(ctx, client)
		news, _ := tellLocks(client, told, a.say)
		changed := worse(list, now)
		if !changed && (news == 0 || again) { // locks of clients at work come and go
			break
		}
		if list, again = now, !changed; changed {
			a.say("since the question the nodes have changed: these need a voucher now")
		} else {
			a.say("the question is also about these new locks")
		}
	}
	waiting := waitingOf(list)
	stuck := false
	places := map[string]bool{} // the nodes that were printed and wait for a place among the members
	for _, n := range list {
		switch {
		case n.Votes() || vouchable(n):
		case placeless(n):
			places[n.Node] = true
			fmt.Fprintf(out, "%s votes in %s: %s\n", n.Node, forPeople(n.VotesIn), n.Why())
		default:
			stuck = true
			first := ""
			if n.Reason == verdict.ReasonRefused {
				first = "; start the server first"
			}
			fmt.Fprintf(out, "%s cannot be vouched for: %s%s\n", n.Node, n.Said(), first)
		}
	}
	if len(waiting)+len(places) == 0 {
		if !stuck {
			fmt.Fprintf(out, "no node waits to be vouched for; %s\n", votesOf(voting(list), len(list)))
		}
		return a.quorumOf(list)
	}
	before := list
	var longest time.Duration
	if len(waiting) > 0 {
		list = admin.Trust(ctx, client, list...)
	}
	for _, n := range list {
		if places[n.Node] {
			waiting[n.Node] = true
			longest = max(longest, n.VotesIn)
		}
	}
	for i, n := range list {
		if !waiting[n.Node] || places[n.Node] {
			continue
		}
		if ask == nil && (n.VotesIn > 0 || n.Votes()) { // otherwise a later line gives the reason
			a.note("node %s", before[i])
		}
		switch {
		case n.Err != nil:
			fmt.Fprintf(out, "%s was not vouched for: %s\n", n.Node, n.Said())
		case n.VotesIn > 0:
			fmt.Fprintf(out, "vouched for %s, incarnation %s: votes in %s\n", n.Node, n.RunID, forPeople(n.VotesIn))
			longest = max(longest, n.VotesIn)
			continue
		case n.Votes():
			fmt.Fprintf(out, "vouched for %s, incarnation %s: votes\n", n.Node, n.RunID)
		default:
			fmt.Fprintf(out, "%s does not vote: %s\n", n.Node, n.Said())
		}
		delete(waiting, n.Node)
	}
	// Wait until the nodes vote. The next command of a script can then take a lock.
	for end := time.Now().Add(longest + patience); len(waiting) > 0 && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
		list = admin.Nodes(ctx, client)
		for _, n := range list {
			switch {
			case n.Votes():
				delete(waiting, n.Node)
			case waiting[n.Node] && placeless(n):
				if !places[n.Node] {
					places[n.Node] = true
					fmt.Fprintf(out, "%s votes in %s: %s\n", n.Node, forPeople(n.VotesIn), n.Why())
				}
				if later := time.Now().Add(n.VotesIn + patience); later.After(end) {
					end = later
				}
			}
		}
	}
	fmt.Fprintln(out, votesOf(voting(list), len(list)))
	return a.quorumOf(list)
}

// vouchable reports whether a voucher can make the node vote. It cannot if the node answers with an error such as
// WRONGPASS.
func vouchable(n verdict.Answer) bool {
	return n.Reachable() && !n.Votes() && !placeless(n) && node.Code(n.Err) == ""
}

// waitingOf returns the nodes that a voucher can make vote.
func waitingOf(list []verdict.Answer) map[string]bool {
	waiting := map[string]bool{}
	for _, n := range list {
		if vouchable(n) {
			waiting[n.Node] = true
		}
	}
	return waiting
}

// worse reports whether the operator's yes, given for the nodes in then, is not enough for the nodes in now. This is
// so if a node needs a voucher now that needed none then, or if a node has restarted or lost its memory since then.
func worse(then, now []verdict.Answer) bool {
	waiting := waitingOf(then)
	for i, n := range now {
		if vouchable(n) && (!waiting[n.Node] || n.RunID != then[i].RunID || n.Loss != then[i].Loss) {
			return true
		}
	}
	return false
}

// quorumOf returns nil if enough nodes vote for a lock, otherwise a failure.
func (a *app) quorumOf(list []verdict.Answer) error {
	if err := noQuorum(list); err != nil {
		return &failure{code: exitUnavailable, err: err, hint: a.settings.nodesHint(list)}
	}
	return nil
}

// noQuorum returns an error if too few nodes vote.
func noQuorum(list []verdict.Answer) error {
	need := answers.Needed(list)
	n := voting(list)
	switch {
	case n >= need:
		return nil
	case list[0].Master != "":
		return fmt.Errorf("%d of %s; a name is locked by the shard of its hash slot", n, shardsVote(len(list)))
	}
	return fmt.Errorf("%s; a lock needs %d%s", votesOf(n, len(list)), need, barred(list, need))
}

func shardsVote(n int) string {
	if n == 1 {
		return "1 shard votes"
	}
	return fmt.Sprintf("%d shards vote", n)
}

// barred says that others may get locks although too few nodes vote for this command, "" if nobody gets one.
func barred(list []verdict.Answer, need int) string {
	bars := map[doctor.Bar]int{}
	for _, n := range list {
		bars[doctor.BarOf(n)]++
	}
	voting := voting(list)
	switch {
	case voting+bars[doctor.UserBar] >= need:
		return ". Other users may get locks: this user cannot ask for the votes"
	case voting+bars[doctor.UserBar]+bars[doctor.SettingsBar] >= need:
		return ". Clients with the settings of the nodes may get locks"
	}
	return ""
}

// votesOf says how many of the nodes vote.
func votesOf(n, of int) string {
	if of == 1 {
		return fmt.Sprintf("%d of 1 node votes", n)
	}
	return fmt.Sprintf("%d of %d nodes vote", n, of)
}

// these returns "this node", or "these" and the number of nodes.
func these(n int) string {
	if n == 1 {
		return "this node"
	}
	return "these " + printable.Count(n, "node")
}

func (t *talker) confirmed(n int) bool {
	return t.sure(fmt.Sprintf("is it certain that no lock is alive on %s? [y/N] ", these(n)))
}
