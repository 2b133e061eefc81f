package jobmetrics

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/job"
)

const (
	// Fresh is the time for which a reading counts. Several scrapers then ask the nodes once.
	Fresh = 10 * time.Second
	// Patience limits a reading, so that nodes that hang do not delay a scrape for longer.
	Patience = 5 * time.Second
	// Most is the largest number of jobs in a reading. Those with the first names count.
	Most = 1000

	rest = 10 // a reading takes a tenth of the time at most, however many jobs there are
)

// Reader reads the states of jobs. The zero value reads the jobs of [Reader.Set]. It is safe for concurrent use.
type Reader struct {
	// All makes the reader read all jobs that the nodes know. That reads all keys of the nodes. So set it in one or two
	// processes of a fleet only. Set it before the first call. Defaults to false.
	All bool

	mu    sync.Mutex
	views []*view
}

// Set states which jobs the process runs through a client. It replaces those of an earlier call for this client. The job
// of a Spec that the nodes do not know has [Job.NeverRan]. It is overdue after its first tick since the next reading, and
// so is a job that is [Job.Unreadable]; without Schedule they are never overdue. The error is that of [job.ParseSchedule], and then nothing changes.
func (r *Reader) Set(client *holdfast.Client, specs ...job.Spec) error {
	own := map[string]*job.Schedule{}
	for _, s := range specs {
		own[s.Name] = nil
		if s.Schedule == "" {
			continue
		}
		schedule, err := job.ParseSchedule(s.Schedule)
		if err != nil {
			return err
		}
		own[s.Name] = schedule
	}
	r.view(client).set(own)
	return nil
}

// Add makes a reader with All read the jobs of this client's nodes.
func (r *Reader) Add(client *holdfast.Client) { r.view(client) }

// Drop forgets a client.
func (r *Reader) Drop(client *holdfast.Client) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.views = slices.DeleteFunc(r.views, func(v *view) bool { return v.client == client })
}

// view returns the view of a client. It begins one if there is none.
func (r *Reader) view(client *holdfast.Client) *view {
	cluster := client.Stats().Cluster
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := slices.IndexFunc(r.views, func(v *view) bool { return v.client == client }); i >= 0 {
		return r.views[i]
	}
	v := &view{client: client, cluster: cluster}
	r.views = append(r.views, v)
	return v
}

// Read returns the states of the jobs, in the order of clusters and names. It asks the nodes at most once in [Fresh]. A
// job that the nodes did not answer about keeps its last outcome, and is left out if there is none. A request for the
// first run of a job counts only in a process that has this job: its name may be a mistake. Read returns after [Patience]
// at the latest.
func (r *Reader) Read(ctx context.Context) []Job {
	bounded, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	r.mu.Lock()
	views := slices.Clone(r.views)
	r.mu.Unlock()
	lists := make([][]Job, len(views))
	listed := map[string]bool{}
	var wait sync.WaitGroup
	for i, v := range views {
		all := r.All && !listed[v.cluster] // clients of one node set have the same jobs
		listed[v.cluster] = true
		wait.Go(func() { lists[i] = v.read(bounded, all) })
	}
	wait.Wait()
	jobs := slices.Concat(lists...)
	slices.SortStableFunc(jobs, func(a, b Job) int {
		never := 0 // a client that has read a run knows more
		if a.NeverRan != b.NeverRan {
			never = map[bool]int{false: -1, true: 1}[a.NeverRan]
		}
		return cmp.Or(cmp.Compare(a.Cluster, b.Cluster), cmp.Compare(a.Name, b.Name), never)
	})
	jobs = slices.CompactFunc(jobs, func(a, b Job) bool { return a.Cluster == b.Cluster && a.Name == b.Name })
	return jobs[:min(len(jobs), Most)]
}
