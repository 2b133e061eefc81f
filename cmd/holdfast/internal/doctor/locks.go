package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/admin"
	"github.com/holdfast-go/holdfast/internal/core/printable"
	"github.com/holdfast-go/holdfast/verdict"
)

// mostNames is the largest number of names that one check lists.
const mostNames = 10

// ofNames are the checks of names.
var ofNames = []string{"foreign", "corrupt", "kinds", "stuck", "leaders"}

// locks examines the names that the nodes have.
func (e *exam) locks(ctx context.Context) {
	if !slices.ContainsFunc(ofNames, e.wants) {
		return
	}
	counts := map[string]int{}
	found := func(check string, s Severity, node, state, fix string) {
		if counts[check]++; counts[check] <= mostNames {
			e.find(check, node, s, state, fix)
		}
	}
	names, used := 0, uses{}
	for s, err := range admin.List(ctx, e.Client, admin.ListOptions{Free: true, Rate: e.Rate}) {
		if err != nil {
			for _, check := range ofNames {
				found(check, Note, "", "not known: "+unread(err), "mend what the checks answer and votes say; if the user lacks a right, give it those of: holdfast acl --role operator")
			}
			return
		}
		names++
		foreign, corrupt := 0, 0
		var first verdict.Answer
		for _, n := range s.Nodes {
			switch {
			case n.Reason == verdict.ReasonCorrupt:
				found("corrupt", Bad, n.Node, fmt.Sprintf("%q: %s", s.Name, n.Said()), "stop the users of this name; then in redis-cli on this node: DEL "+redisText(n.Value))
				corrupt++
			case n.Foreign:
				if foreign++; foreign == 1 {
					first = n
				}
			}
		}
		if foreign > 0 {
			until := "it has no expiry"
			if !first.Until.IsZero() {
				until = "it expires in " + time.Until(first.Until).Round(time.Second).String()
			}
			found("foreign", Warn, "", fmt.Sprintf("%q: the plain key has a value of another program on %s (%q; %s)", s.Name, printable.Count(foreign, "node"), first.Owner, until),
				"find the program; if it holds no lock, in redis-cli on each node: DEL "+redisText(s.Name))
		}
		if used.both(s) {
			found("kinds", Warn, "", fmt.Sprintf("%q: a lock and a semaphore have this name, and do not exclude each other", s.Name),
				"give one of them another name; if a program uses the wrong kind, correct it")
		}
		h := s.Holder()
		held := time.Now().Add(e.ahead).Sub(h.Since) // Since is a time of the nodes' clocks
		e.young(s, held)
		leads := s.Kind == admin.KindElection // a leader may lead for ever
		if e.OlderThan > 0 && s.Known && s.Held && !leads && !h.Since.IsZero() && held > e.OlderThan {
			found("stuck", Warn, "", fmt.Sprintf("%q: held by %s for %s (%d wait)", s.Name, h, held.Round(time.Second), s.Waiters),
				fmt.Sprintf("do nothing if it is a leader; end %s if it hangs; if you cannot: holdfast unlock %s --force --owner %s", h, shell(s.Name), shell(h.Owner))+slot(s))
		}
	}
	if e.wants("leaders") {
		e.leaders(ctx)
	}
	good := map[string]string{
		"foreign": "no foreign keys under " + printable.Count(names, "name"), "corrupt": sound(names),
		"kinds": "no lock and semaphore have one name",
		"stuck": fmt.Sprintf("no lock is held for more than %s", e.OlderThan),
	}
	for check, state := range good {
		switch n := counts[check]; {
		case n == 0:
			e.find(check, "", OK, state, "")
		case n > mostNames:
			e.find(check, "", Note, fmt.Sprintf("%d more", n-mostNames), "holdfast list shows all")
		}
	}
}

func sound(names int) string {
	if names == 1 {
		return "1 name is sound"
	}
	return fmt.Sprintf("%d names are sound", names)
}

// unread says why the names could not be read. The text of the error would repeat its hint in the findings of each
// check.
func unread(err error) string {
	var un *holdfast.UnavailableError
	if !errors.As(err, &un) {
		return err.Error()
	}
	var said []string
	for _, n := range un.Nodes {
		if n.Err != nil {
			said = append(said, n.Said())
		}
	}
	return strings.Join(append([]string{"too few nodes could be read"}, unique(said)...), ": ")
}

func slot(s *admin.NameStatus) string {
	if s.Slot < 0 {
		return ""
	}
	return fmt.Sprintf(" --slots %d", s.Slot+1)
}
