package main

import (
	"flag"
	"fmt"
	"os"
	"runtime/pprof"
	"time"
)

// profile runs one system in this process, with many goroutines and distinct names, and writes its CPU profile.
type profile struct {
	system            string
	nodes, goroutines int
	long              time.Duration
	file              string
}

func (p *profile) flags(f *flag.FlagSet) {
	f.StringVar(&p.system, "system", holdfastRueidis, "profile: which `system`")
	f.IntVar(&p.nodes, "nodes", 1, "profile: how many nodes")
	f.IntVar(&p.goroutines, "goroutines", 64, "profile: how many goroutines")
	f.DurationVar(&p.long, "for", 5*time.Second, "profile: for how `long`")
	f.StringVar(&p.file, "file", "cpu.pprof", "profile: `file` to write")
}

func (p *profile) run(in state) error {
	sys, err := systemNamed(p.system)
	if err != nil {
		return err
	}
	on, err := newStage(p.nodes, in)
	if err != nil {
		return err
	}
	defer on.end()
	l, err := sys.open(on.urls)
	if err != nil {
		return err
	}
	defer l.close()
	f, err := os.Create(p.file)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	s := slice{Goroutines: p.goroutines, Name: "bench/profile", Begin: time.Now(), Warm: p.long / 10, For: p.long}
	o, err := play(l, s)
	pprof.StopCPUProfile()
	if err != nil {
		return err
	}
	x := newSample([]outcome{o}, p.nodes, 0, nil)
	fmt.Printf("%s: %.0f cycles/s, %.1f µs of client CPU per cycle; look: go tool pprof -top %s\n", sys.name, x.Rate, x.CPU, p.file)
	return nil
}
