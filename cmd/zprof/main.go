package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"syscall"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/problems/dataset"
	"github.com/conetune/conetune/problems/groups"
	"github.com/conetune/conetune/problems/sgl"
	"github.com/conetune/conetune/tune"
)

func cpu() float64 {
	var r syscall.Rusage
	syscall.Getrusage(0, &r)
	return float64(r.Utime.Sec+r.Stime.Sec) + float64(r.Utime.Usec+r.Stime.Usec)*1e-6
}

func main0() {
	runtime.GOMAXPROCS(1)
	dir := os.Args[1]
	split, err := dataset.ReadDir(dir)
	if err != nil {
		panic(err)
	}
	g, err := groups.Read(dir+"/groups.csv", split.Train.Features, false)
	if err != nil {
		panic(err)
	}
	m, err := sgl.New(split, g, sgl.Options{})
	if err != nil {
		panic(err)
	}
	f, _ := os.Create(os.Args[2])
	best, n := 1e9, 60
	if len(os.Args) > 3 {
		n = 1
	}
	pprof.StartCPUProfile(f)
	for i := 0; i < n; i++ {
		t := cpu()
		r, err := tune.Run(context.Background(), m, tune.Config{Preset: tune.PresetPaper, Workers: 1})
		if err != nil {
			panic(err)
		}
		if d := cpu() - t; d < best {
			best = d
		}
		if i == 0 {
			fmt.Println(r.Status, r.Iterations, r.Refit.Validation)
		}
	}
	pprof.StopCPUProfile()
	fmt.Println(best)
}
