package promholdfast_test

import (
	"log"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/metrics/promholdfast"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// A program with the locks order/1, order/2, … and nightly-report. The groups are order and nightly-report.
func Example() {
	metrics, err := promholdfast.New(promholdfast.Options{
		Group: func(name string) string { group, _, _ := strings.Cut(name, "/"); return group },
	})
	if err != nil {
		log.Fatal(err)
	}
	prometheus.MustRegister(metrics)
	nodes, err := rueidisnode.Open("redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3")
	if err != nil {
		log.Fatal(err)
	}
	client, err := holdfast.New(holdfast.Config{Nodes: nodes, Observers: []holdfast.Observer{metrics.Observer()}})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	http.Handle("/metrics", promhttp.Handler())
	log.Fatal(http.ListenAndServe(":9100", nil))
}
