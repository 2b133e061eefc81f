package promholdfast_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/job/jobmetrics"
	"github.com/holdfast-go/holdfast/metrics/promholdfast"
)

// A program with the locks order/1, order/2, … and nightly-report. The groups are order and nightly-report. The
// handler of package promhttp serves the registry.
func ExampleNew() {
	metrics, err := promholdfast.New(promholdfast.Options{
		Group: func(name string) string { group, _, _ := strings.Cut(name, "/"); return group },
	})
	if err != nil {
		log.Fatal(err)
	}
	registry := prometheus.NewRegistry()
	registry.MustRegister(metrics)
	client, err := holdfast.New(config(holdfast.Config{Observers: []holdfast.Observer{metrics.Observer()}})) // with Nodes
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"order/1", "order/2", "nightly-report"} {
		if err := client.Mutex(name).Do(context.Background(), func(context.Context) error { return nil }); err != nil {
			log.Print(err)
		}
	}
	client.Close()

	families, err := registry.Gather()
	if err != nil {
		log.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.Metric {
			if family.GetName() == "holdfast_acquired_total" {
				fmt.Println(m.GetLabel()[0].GetValue(), m.GetCounter().GetValue())
			}
		}
	}
	// Output:
	// nightly-report 1
	// order 2
}

// A program reads jobs by itself, and shows them in a registry of its own, for example to push them to a gateway.
func ExampleJobCollector() {
	registry := prometheus.NewRegistry()
	registry.MustRegister(promholdfast.JobCollector(jobmetrics.Job{Cluster: "main", Name: "backup", Failed: true}))
	families, err := registry.Gather()
	if err != nil {
		log.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "holdfast_job_last_failed" {
			fmt.Println(family.Metric[0].GetLabel()[1].GetValue(), family.Metric[0].GetGauge().GetValue())
		}
	}
	// Output: backup 1
}
