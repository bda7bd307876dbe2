//go:build js && wasm

// Command browser solves programs in a web page: the page calls conetune(text), which gives a promise of an object.
// make browser builds it beside index.html.
package main

import (
	"context"
	"fmt"
	"strings"
	"syscall/js"
	"time"

	"github.com/conetune/conetune/backends"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/formats/cbf"
	"github.com/conetune/conetune/formats/qps"
)

// read takes what begins with VER, after comments, as CBF and anything else as MPS.
func read(text string) (*formats.Program, error) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line == "VER" {
			m, err := cbf.Decode("program", strings.NewReader(text))
			if err != nil {
				return nil, err
			}
			return m.Conic()
		} else if line != "" && line[0] != '#' {
			break
		}
	}
	m, err := qps.Decode("program", strings.NewReader(text))
	if err != nil {
		return nil, err
	}
	return m.Conic(), nil
}

func solve(text string) (map[string]any, error) {
	program, err := read(text)
	if err != nil {
		return nil, err
	}
	backend, err := backends.Open("native")
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	solver, err := backend.Setup(program.Problem, backends.Options{})
	if err != nil {
		return nil, err
	}
	defer solver.Close()
	s, err := solver.Solve(context.Background())
	if err != nil {
		return nil, err
	}
	n, m := program.Problem.Dims()
	found := program.Solution(s)
	x := make([]any, len(found.X))
	for i, v := range found.X {
		x[i] = v
	}
	return map[string]any{"status": fmt.Sprint(s.Status), "objective": found.Objective, "x": x, "columns": n, "rows": m,
		"iterations": s.Iterations, "milliseconds": float64(time.Since(begin).Microseconds()) / 1000}, nil
}

func main() {
	js.Global().Set("conetune", js.FuncOf(func(_ js.Value, args []js.Value) any {
		return js.Global().Get("Promise").New(js.FuncOf(func(_ js.Value, done []js.Value) any {
			go func() {
				out, err := solve(args[0].String())
				if err != nil {
					out = map[string]any{"error": err.Error()}
				}
				done[0].Invoke(out)
			}()
			return nil
		}))
	}))
	select {}
}
