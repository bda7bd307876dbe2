package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/conetune/conetune/problems/matcomp"
	"github.com/conetune/conetune/tune"
)

func main() {
	if len(os.Args) > 4 {
		main0()
		return
	}
	runtime.GOMAXPROCS(1)
	d, err := matcomp.ReadDir(os.Args[1], matcomp.DefaultGroups)
	if err != nil {
		panic(err)
	}
	m, err := matcomp.New(d, matcomp.Options{})
	if err != nil {
		panic(err)
	}
	f, _ := os.Create(os.Args[2])
	pprof.StartCPUProfile(f)
	best := 1e9
	n := 4
	if len(os.Args) > 3 {
		n = 1
	}
	for i := 0; i < n; i++ {
		t := cpu()
		w := time.Now()
		r, err := tune.Run(context.Background(), m, tune.Config{Preset: tune.PresetPaper, Workers: 1})
		if err != nil {
			panic(err)
		}
		if d := cpu() - t; d < best {
			best = d
		}
		if i == 0 {
			fmt.Println(r.Status, r.Iterations, r.Refit.Validation, time.Since(w))
		}
	}
	pprof.StopCPUProfile()
	fmt.Println(best)
}
