package main

import "fmt"

// Check compares the model with a measurement that is not among those from which the costs come.
type Check struct {
	What     string // the run
	Figure   string // one of figures
	Load     Load
	Measured float64
}

// A figure is a part of a cost that is compared with measurements. The model and the measurement may differ by factor.
type figure struct {
	unit   string
	scale  float64
	factor float64
	of     func(Cost) float64
}

// roughly is the factor for CPU. It is wide for two reasons. A server with little to do reads and writes each call
// alone, and so needs up to three times as much for it. And other programs make work cost more. So these
// checks find a wrong unit or a forgotten kind of work, and no change of a few per cent. It is also the factor for the
// memory of queues: the stored run measured it by the whole memory, whose table of keys grows in steps.
const roughly = 2.5

var figures = map[string]figure{
	"CPU of a shard":                   {"% of a core", 100, roughly, func(c Cost) float64 { return c.AskedCPU }},
	"CPU of a client":                  {"% of a core", 100, roughly, func(c Cost) float64 { return c.ClientCPU }},
	"CPU of admission":                 {"s", 1, roughly, func(c Cost) float64 { return c.AdmitCPU }},
	"CPU of sending a hand-off":        {"µs", 1, roughly, func(c Cost) float64 { return c.Sending }},
	"CPU of hearing a hand-off":        {"µs", 1, roughly, func(c Cost) float64 { return c.Hearing }},
	"CPU of an answer":                 {"µs", 1, roughly, func(c Cost) float64 { return c.Answer }},
	"CPU of a client for an answer":    {"µs", 1, roughly, func(c Cost) float64 { return c.ClientAnswer }},
	"messages to a shard":              {"/s", 1, 1.1, func(c Cost) float64 { return c.Messages }},
	"questions for the topology":       {"/s", 1, 1.1, func(c Cost) float64 { return c.Questions }},
	"hand-offs that a server hears of": {"/s", 1, 1.1, func(c Cost) float64 { return c.Bus }},
	"memory of a shard":                {"MB", 1e-6, 1.15, func(c Cost) float64 { return c.ShardMemory }},
	"memory of queues on a shard":      {"MB", 1e-6, roughly, func(c Cost) float64 { return c.Queues }},
	"memory of a client":               {"MB", 1e-6, 1.25, func(c Cost) float64 { return c.ClientMemory }},
	"connections of a shard":           {"", 1, 1.05, func(c Cost) float64 { return c.Connections }},
}

// predicted returns what the model says.
func (c Check) predicted(k Constants) float64 { return figures[c.Figure].of(k.Cost(c.Load)) }

// off returns the relative error of the model: 0.1 if it says a tenth too much.
func (c Check) off(k Constants) float64 { return c.predicted(k)/c.Measured - 1 }

// bad reports whether the model and the measurement differ by more than accepted.
func (c Check) bad(k Constants) bool {
	ratio, factor := c.predicted(k)/c.Measured, figures[c.Figure].factor
	return !(ratio > 1/factor && ratio < factor)
}

// row returns the check as the cells of a table.
func (c Check) row(k Constants) []string {
	f := figures[c.Figure]
	return []string{
		c.What, c.Figure, number(f.scale*c.predicted(k)) + " " + f.unit, number(f.scale*c.Measured) + " " + f.unit,
		fmt.Sprintf("%+.0f %%", 100*c.off(k)), fmt.Sprintf("× %g", f.factor),
	}
}
