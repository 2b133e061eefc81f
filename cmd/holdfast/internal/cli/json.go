package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/internal/answers"
	"github.com/holdfast-go/holdfast/node"
	"github.com/holdfast-go/holdfast/verdict"
)

// These types are the output of --json. A key is never renamed or left out: if its value is unknown, it is null.
// Durations are in milliseconds, and their keys end with _ms. Times are RFC 3339 in UTC.

type lockJSON struct {
	Name        string         `json:"name"`        // each byte that is not UTF-8 is U+FFFD here
	NameQuoted  string         `json:"name_quoted"` // as a Go string in ASCII, which is different for any two names
	Slots       *int           `json:"slots"`       // the number of slots of a semaphore, else null
	Readers     *int           `json:"readers"`     // the number of readers that have the lock; null if unknown
	Held        *bool          `json:"held"`        // if too few nodes answered or vote, this and all fields below are null
	Foreign     *bool          `json:"foreign"`
	Left        *bool          `json:"left"`    // the owner has ended its lease but keeps the name taken
	Offered     *bool          `json:"offered"` // nobody has the name; it is reserved for the first waiter, who is owner
	Holder      *string        `json:"holder"`
	Owner       *string        `json:"owner"`
	Fence       *int64         `json:"fence"`
	Since       *string        `json:"since"`
	Until       *string        `json:"until"`
	ExpiresInMS *int64         `json:"expires_in_ms"`
	Holders     []holderJSON   `json:"holders"` // all holders, and up to 100 readers; the fields above are about the first of them
	Job         *jobJSON       `json:"job"`     // the last run, as in the output of jobs; null if the name is not a job, or too few nodes answered
	Nodes       []lockNodeJSON `json:"nodes"`
}

type holderJSON struct {
	Holder  string  `json:"holder"`
	Owner   *string `json:"owner"`
	Foreign bool    `json:"foreign"`
	Left    bool    `json:"left"`
	Offered bool    `json:"offered"`
	Shared  bool    `json:"shared"`
	Slot    *int    `json:"slot"` // the slot of a semaphore, else null
	Fence   *int64  `json:"fence"`
	Since   *string `json:"since"`
	Until   *string `json:"until"`
}

type lockNodeJSON struct {
	Node    string  `json:"node"`
	Master  *string `json:"master"` // of a shard of a Redis Cluster: the address of its present master; else null
	Reason  string  `json:"reason"` // a code: free, held, offered, free-no-vote, or the reason why there is no answer
	Held    *bool   `json:"held"`   // null if the node did not answer, or may have forgotten locks
	Foreign *bool   `json:"foreign"`
	Owner   *string `json:"owner"`
	Fence   *int64  `json:"fence"`
	Until   *string `json:"until"`
	Error   *string `json:"error"`
}

func statusJSON(s *holdfast.Status, known bool) lockJSON {
	j := lockJSON{Name: s.Name, NameQuoted: strconv.QuoteToASCII(s.Name)}
	first := s.Holder()
	if s.Slots > 0 {
		j.Slots = &s.Slots
	}
	if known {
		j.Readers = &s.Readers
		j.Held, j.Foreign, j.Left, j.Offered = &s.Held, &first.Foreign, &first.Left, &first.Offered
		j.Holders = []holderJSON{}
	}
	for _, h := range s.Holders {
		var slot *int
		if s.Slots > 0 {
			slot = &h.Slot
		}
		j.Holders = append(j.Holders, holderJSON{
			Slot: slot, Holder: h.String(), Owner: text(h.Owner), Foreign: h.Foreign, Left: h.Left, Offered: h.Offered, Shared: h.Shared,
			Fence: number(h.Fence), Since: instant(h.Since), Until: instant(h.Until),
		})
	}
	if len(j.Holders) > 0 {
		h := j.Holders[0]
		j.Holder, j.Owner, j.Fence, j.Since, j.Until = &h.Holder, h.Owner, h.Fence, h.Since, h.Until
		if !first.Until.IsZero() {
			ms := time.Until(first.Until).Milliseconds()
			j.ExpiresInMS = &ms
		}
	}
	for _, n := range s.Nodes {
		held := n.Held()
		v := lockNodeJSON{Node: n.Node, Master: text(n.Master), Reason: n.Reason.String(), Fence: number(n.Fence), Until: instant(n.Until)}
		switch {
		case n.Err != nil:
			v.Error = text(failed(n))
		case n.Reason != verdict.ReasonFreeNoVote:
			v.Held, v.Foreign = &held, &n.Foreign
		}
		if held {
			v.Owner = text(n.Owner)
		}
		j.Nodes = append(j.Nodes, v)
	}
	return j
}

type nodesJSON struct {
	Quorum int        `json:"quorum"` // the number of nodes that must vote: a majority, or all shards of a Redis Cluster
	Voting int        `json:"voting"`
	Nodes  []nodeJSON `json:"nodes"`
}

type nodeJSON struct {
	Node      string   `json:"node"`
	Master    *string  `json:"master"`   // of a shard of a Redis Cluster: the address of its present master; else null
	Slots     *int     `json:"slots"`    // of a shard: the number of its hash slots; else null
	Replicas  []string `json:"replicas"` // of a shard: the addresses of its replicas that work; else null
	Reachable bool     `json:"reachable"`
	Admitted  bool     `json:"admitted"`
	VotesInMS *int64   `json:"votes_in_ms"`
	Reason    *string  `json:"reason"` // code of the reason why the node does not vote; null if it votes
	Cause     *string  `json:"cause"`  // code of the reason's cause
	Said      *string  `json:"said"`   // reason and cause in words
	OffsetMS  *float64 `json:"offset_ms"`
	Version   *string  `json:"version"`
	RunID     *string  `json:"run_id"`
	Error     *string  `json:"error"`
}

func standingJSON(list []verdict.Answer, t *node.Topology) nodesJSON {
	j := nodesJSON{Quorum: answers.Needed(list), Voting: voting(list)}
	for _, n := range list {
		v := nodeJSON{
			Node: n.Node, Reachable: n.Reachable(), Admitted: n.Votes(),
			Version: text(n.Version), RunID: text(n.RunID), Master: text(n.Master),
		}
		if s := shardOf(t, n.Node); s != nil {
			v.Slots, v.Replicas = &s.Slots, working(s)
		}
		v.Reason, v.Cause, v.Said = refusalJSON(n)
		if n.VotesIn > 0 {
			ms := n.VotesIn.Milliseconds()
			v.VotesInMS = &ms
		}
		if n.OffsetKnown {
			ms := float64(n.Offset.Microseconds()) / 1000
			v.OffsetMS = &ms
		}
		if n.Err != nil {
			v.Error = text(failed(n))
		}
		j.Nodes = append(j.Nodes, v)
	}
	return j
}

// refusalJSON returns the codes of the reason and the cause why a node does not vote, and both in words. All three are
// null if the node votes.
func refusalJSON(n verdict.Answer) (reason, cause, said *string) {
	if n.Votes() {
		return nil, nil, nil
	}
	return text(n.Reason.String()), text(string(n.Cause)), text(n.Said())
}

// show prints v as JSON or for people.
func show(out io.Writer, asJSON bool, v any, forPeople func() error) error {
	if asJSON {
		return printJSON(out, v)
	}
	return forPeople()
}

func printJSON(out io.Writer, v any) error { return encode(out, v, "  ") }

// printJSONLine prints v as one line of JSON.
func printJSONLine(out io.Writer, v any) error { return encode(out, v, "") }

func encode(out io.Writer, v any, indent string) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	// JSON may contain characters that control a terminal. They are written as escapes, which programs read as the
	// same text.
	var shown strings.Builder
	for _, r := range b.String() {
		if r >= 0x7f && r <= 0xffff && !strconv.IsPrint(r) {
			fmt.Fprintf(&shown, "\\u%04x", r)
		} else {
			shown.WriteRune(r)
		}
	}
	if _, err := io.WriteString(out, shown.String()); err != nil {
		return fmt.Errorf("print JSON: %w", err)
	}
	return nil
}

func reason(err error) string { return node.Reason(err) }

// failed returns the error of a node in words. For a corrupt record it returns the text of the answer, because this
// text says what to do.
func failed(n verdict.Answer) string {
	if n.Reason == verdict.ReasonCorrupt {
		return n.Said()
	}
	return reason(n.Err)
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func number(n int64) *int64 {
	if n == 0 {
		return nil
	}
	return &n
}

func instant(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	return text(t.UTC().Format(time.RFC3339Nano))
}
