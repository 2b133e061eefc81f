package bids

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast-go/holdfast/internal/core/nodescript"
	"github.com/holdfast-go/holdfast/internal/nodemodel"
	"github.com/holdfast-go/holdfast/node"
)

// server is a node that votes.
type server struct {
	*nodemodel.Node
	w     *World
	ahead time.Duration // how far its clock is ahead of the clients' mean clock
}

func (w *World) newServer(i int) *server {
	s := &server{w: w, ahead: w.below(window/4) - window/8}
	info := nodemodel.Info{Run: "run", Role: "master", Policy: "noeviction", Version: "model"}
	s.Node = nodemodel.New(fmt.Sprint("node", i), func() int64 { return epoch + w.now.Add(s.ahead).Micros() }, info, w.set)
	s.Set(nodescript.GuardKey, w.set.String()+" run", 0)
	for field, text := range map[string]string{"run": "run", "config": w.set.String(), "evicted": "0", "id": "id"} {
		s.HSet(nodescript.AdmissionKey, field, text)
	}
	if err := s.Load(context.Background(), w.scripts.Load()...); err != nil {
		panic(err)
	}
	return s
}

// call runs a call, and returns the node's answer.
func (s *server) call(c nodescript.Call) nodescript.Answer {
	r := s.EvalSHA(context.Background(), []node.Call{{SHA: s.w.scripts.SHA(c.Op), Keys: c.Keys, Args: c.Args}})
	return nodescript.ParseReply(c.Op, r[0])
}

// keeps returns what the node keeps for some client: the owner of a record, its readers, and a queue.
func (s *server) keeps() (owner string, queue []string) {
	var readers []string
	for _, k := range s.Keys() {
		if len(k.Waiting) > 0 {
			queue = k.Waiting
		}
		switch nodescript.KindOf(k.Name) {
		case nodescript.ReadersOfKey:
			for i := 0; i < len(k.Fields); i += 2 {
				ends, err := strconv.ParseInt(k.Fields[i+1][16:], 10, 64)
				if nodescript.IsReader(k.Fields[i]) && (err != nil || ends > s.Clock()) {
					readers = append(readers, k.Fields[i])
				}
			}
		case nodescript.RecordOfKey:
			r, err := nodescript.ParseRecord(k.Text)
			if err != nil {
				panic(err)
			}
			if r.Owner != "" && r.Expiry > s.Clock() {
				owner = r.Owner
			}
		}
	}
	return strings.Join(append(readers, owner), ""), queue
}
