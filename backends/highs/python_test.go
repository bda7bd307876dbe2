//go:build highs && cgo && unix

package highs

import (
	"math"
	"path"
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/internal/sidebyside"
	chighs "github.com/conetune/conetune/internal/cgo/highs"
)

// BenchmarkPython sets up and solves problems of public collections in turns with the Python package of
// HiGHS, with its mirror in Go (package internal/cgo/highs), and through backends.Open, all on the
// same rows with the same settings: linear programs by the simplex method, quadratic ones by HiPO. It reports the least
// processor time of each; the iterations must be the same. The Python package needs highspy-extras.
//
//	CONETUNE_BENCH_DATA=DIR CONETUNE_BENCH_PYTHON=python3 \
//	    go test -tags highs -run '^$' -bench Python -benchtime 5x ./backends/highs
func BenchmarkPython(b *testing.B) {
	for _, file := range []string{
		"lp/adlittle.mps.gz", "lp/80bau3b.mps.gz", "lp/bnl2.mps.gz", "lp/boeing1.mps.gz", "lp/pilot4.mps.gz", "lp/scfxm3.mps.gz",
		"qp/HS118.qps.gz", "qp/QADLITTL.qps.gz", "qp/DUAL2.qps.gz", "qp/CVXQP1_S.qps.gz", "qp/MOSARQP2.qps.gz", "qp/AUG3DCQP.qps.gz", "qp/CVXQP3_M.qps.gz",
	} {
		b.Run(path.Base(file), func(b *testing.B) {
			p := sidebyside.Problem(b, file)
			o := backends.Options{Eps: 1e-7, Settings: Settings{NoRescaling: true, Retries: -1}}
			s, err := Backend{}.Setup(p, o)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			set := given(o.WithDefaults(), s.(*solver).settings, p.Quadratic())
			data, err := s.(*solver).form.problem(p)
			if err != nil {
				b.Fatal(err)
			}
			var w *chighs.Solver
			sidebyside.Beside(b, peer(data, &set), func() error {
				w, err = chighs.New(data)
				return err
			}, func() int {
				info, err := w.Solve(&set, chighs.NewSolution(len(data.Q), len(data.Lower)), nil, 0)
				if err != nil {
					b.Fatal(err)
				}
				w.Close()
				return info.Iterations
			}, func() int { return backendtest.Solve(b, backends.Checked(Backend{}), p, o).Iterations })
		})
	}
}

// peer describes the problem to the Python package.
func peer(d *chighs.Data, s *chighs.Settings) any {
	bounds := func(v []float64) []float64 { // JSON has no infinity, from 1e30 on all is one
		out := make([]float64, len(v))
		for i, x := range v {
			out[i] = min(max(x, -math.MaxFloat64), math.MaxFloat64)
		}
		return out
	}
	return map[string]any{
		"library": "highs", "P": d.P, "A": d.A, "q": d.Q, "l": bounds(d.Lower), "u": bounds(d.Upper),
		"settings": map[string]any{
			"solver": []string{"simplex", "ipx", "hipo"}[s.Method], "threads": 1, "parallel": "off", "small_matrix_value": 1e-12, "infinite_bound": 1e30,
			"infinite_cost": 1e30, "allow_unbounded_or_infeasible": false, "run_crossover": "on", "ipm_iteration_limit": 500,
			"primal_feasibility_tolerance": s.PrimalTolerance, "dual_feasibility_tolerance": s.DualTolerance, "ipm_optimality_tolerance": s.IPMTolerance,
		},
	}
}
