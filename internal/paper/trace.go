package paper

import (
	"cmp"
	"slices"

	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/internal/words"
	"github.com/conetune/conetune/tune"
)

// trace is what a run had reached when: of VF-iDCA every iteration, of other methods every improvement, and the end of
// the run.
func trace(r *tune.Result, seconds float64) []Point {
	events := slices.Clone(r.Trace)
	slices.SortStableFunc(events, func(a, b tune.Event) int { return cmp.Compare(a.Elapsed, b.Elapsed) })
	iterates := r.Method == tune.MethodVFiDCA || r.Method == tune.MethodVFiDCAT
	var points []Point
	var best *tune.Errors
	for _, e := range events {
		better := e.Refit != nil && words.Finite(e.Refit.Validation) && (best == nil || e.Refit.Validation < best.Validation)
		if better {
			best = e.Refit
		}
		if !better && !iterates {
			continue
		}
		p := Point{Seconds: e.Elapsed.Seconds(), Iteration: e.K, Best: errorsOf(best), Alpha: e.Alpha}
		p.Iterate = p.Best
		if iterates {
			p.Iterate = errorsOf(&e.Errors)
		}
		points = append(points, p)
	}
	end := Point{Seconds: seconds, Iteration: r.Iterations, Iterate: errorsOf(&r.Errors), Best: errorsOf(best)}
	if r.Iterations == 0 {
		end.Iterate = Errors{}
	}
	if iterates {
		end.Alpha = r.Alpha
	}
	// The machine of a cross-validation is tested at the end only.
	if r.Refit != nil && end.Best.Test == nil {
		end.Best.Test = number(r.Refit.Test)
	}
	return append(webpage.Thinned(points, TracePoints-1), end)
}
