package otelholdfast_test

import (
	"log"
	"strings"

	"github.com/holdfast-go/holdfast"
	"github.com/holdfast-go/holdfast/metrics/otelholdfast"
	"github.com/holdfast-go/holdfast/node/rueidisnode"
)

// The program has set the global providers of OpenTelemetry.
func Example() {
	metrics, err := otelholdfast.NewMetrics(otelholdfast.MetricsOptions{
		Group: func(name string) string { group, _, _ := strings.Cut(name, "/"); return group },
	})
	if err != nil {
		log.Fatal(err)
	}
	defer metrics.Close()
	traces := otelholdfast.NewTraces(otelholdfast.TracesOptions{})
	nodes, err := rueidisnode.Open("redis://10.0.0.1", "redis://10.0.0.2", "redis://10.0.0.3")
	if err != nil {
		log.Fatal(err)
	}
	client, err := holdfast.New(holdfast.Config{
		Nodes: nodes, Observers: []holdfast.Observer{metrics.Observer(), traces.Observer()},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
}
