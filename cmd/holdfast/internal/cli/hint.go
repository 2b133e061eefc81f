package cli

import (
	"regexp"
	"slices"
	"strings"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/verdict"
)

// This file has the next steps for a person if there is no quorum.

// unavailableHint returns the next step for a person if there is no quorum, or "" if the error already says it. It
// returns the hint of the library, except where it can name a flag of this command.
func (s *settings) unavailableHint(un *holdfast.UnavailableError) string {
	said := func(what verdict.Reason) (verdict.Answer, bool) {
		i := slices.IndexFunc(un.Nodes, func(n verdict.Answer) bool { return n.Reason == what })
		if i < 0 {
			return verdict.Answer{}, false
		}
		return un.Nodes[i], true
	}
	if hint := s.defaultHint(un.Nodes); hint != "" {
		return hint
	}
	if slices.ContainsFunc(un.Nodes, func(n verdict.Answer) bool { return n.Cause == node.WrongPass }) && s.userOnly() {
		return "a URL such as redis://NAME@host has a user without a password.\n" +
			"A password without a user needs a colon before it: redis://:PASSWORD@host"
	}
	_, twice := said(verdict.ReasonDuplicate)
	if n, differs := said(verdict.ReasonMisconfigured); differs && !twice {
		return sameSettings(n, len(un.Nodes)) + "The number of nodes, --max-ttl, --window, --durable and --cluster must be the same for all clients of these nodes.\n" +
			"How to change them: https://github.com/holdfast-go/holdfast/blob/main/docs/guide/operating.md"
	}
	about := &holdfast.UnavailableError{Nodes: slices.Clone(un.Nodes)}
	if !slices.ContainsFunc(un.Nodes, func(n verdict.Answer) bool { return n.VotesIn > worthAHint }) {
		for i := range about.Nodes {
			about.Nodes[i].VotesIn = 0
		}
	}
	hint := about.Hint()
	if _, unanswered := said(verdict.ReasonUnanswered); hint == "" && unanswered && !explained(un.Nodes) {
		return "holdfast nodes shows the state of each node"
	}
	return hint // the command holdfast nodes would only print the same again
}

// defaultHint returns a hint if no nodes are configured and the default node cannot be reached, otherwise "".
func (s *settings) defaultHint(list []verdict.Answer) string {
	if s == nil || len(s.nodes) > 0 || !slices.ContainsFunc(list, func(n verdict.Answer) bool { return !n.Reachable() }) {
		return ""
	}
	return "no nodes are configured, so holdfast asked the default, " + defaultNode + ".\n" +
		"Name your nodes with HOLDFAST_NODES or --nodes (cron and systemd do not read the variables of your shell),\n" +
		"or start some for development: holdfast dev"
}

// explained reports whether the text of an answer already says what to do.
func explained(nodes []verdict.Answer) bool {
	return slices.ContainsFunc(nodes, func(n verdict.Answer) bool {
		switch n.Reason {
		case verdict.ReasonNoScripts, verdict.ReasonCorrupt:
			return true
		case verdict.ReasonServerError:
			return n.Cause == node.NoAuth
		}
		return false
	})
}

// sameSettings returns the first lines of a hint that says how to use the settings of a node of so many.
func sameSettings(n verdict.Answer, nodes int) string {
	const list = "give this client the same list as the others, in --nodes or HOLDFAST_NODES"
	const spelt = list + ", spelt in the same way (127.0.0.1 and localhost differ)"
	var all []string
	if n.Cause == verdict.CauseStranger {
		all = append(all, list)
	}
	for _, d := range n.Settings {
		switch {
		case d.Setting == "nodes":
			all = []string{list}
		case d.Setting == "cluster" && n.Master != "" && d.Node == "redis-cluster":
			all = append(all, "leave --cluster out")
		case d.Setting == "cluster" && n.Master != "" && d.Node != "":
			all = append(all, "give --cluster "+d.Node)
		case d.Setting == "cluster" && !slices.Contains(all, list):
			all = append(all, spelt+", or the same --cluster")
		case d.Setting == "durable" && d.Node == "yes":
			all = append(all, "add --durable")
		case d.Setting == "durable":
			all = append(all, "leave --durable out")
		case (d.Setting == "max-ttl" || d.Setting == "window") && d.Node != "":
			all = append(all, "give --"+d.Setting+" "+d.Node)
		}
	}
	if len(all) == 0 {
		return ""
	}
	hint := strings.Join(all, ", and ") + ".\n"
	for _, d := range n.Settings {
		if nodes > 1 && d.Setting == "cluster" && hashName.MatchString(d.Node) && hashName.MatchString(d.Client) {
			hint += "If a server in the list took the place of another one: --cluster " + d.Node + " for all clients with this list. It is the\n" +
				"name that the nodes keep for the former list.\n"
		}
	}
	return hint
}

// hashName matches the name of a node set that has no name of its own.
var hashName = regexp.MustCompile(`^[0-9a-f]{12}$`)

// placeless reports whether a node waits for a place among the members. A voucher does not shorten that wait.
func placeless(n verdict.Answer) bool { return n.VotesIn > 0 && n.Cause == verdict.CausePlace }
