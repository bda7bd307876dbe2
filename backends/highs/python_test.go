//go:build highs && cgo && unix

package highs

import (
	"math"
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/sidebyside"
	chighs "github.com/conetune/conetune/internal/cgo/highs"
)

// BenchmarkPython sets up and solves problems of public collections in turns with the Python package of HiGHS and through
// backends.Open, on the same rows with the same settings: linear programs by the
// simplex method, quadratic ones by HiPO. The Python package needs highspy-extras. The iterations must be the
// same.
//
//	CONETUNE_BENCH_DATA=DIR CONETUNE_BENCH_PYTHON=python3 \
//	    go test -tags highs -run '^$' -bench Python -benchtime 5x ./backends/highs
func BenchmarkPython(b *testing.B) {
	o := backends.Options{Eps: 1e-7, Settings: Settings{NoRescaling: true, Retries: -1}}
	sidebyside.Python(b, Backend{}, o, func(opened backends.Solver) any {
		s := opened.(*solver)
		set := given(o.WithDefaults(), s.settings, s.Data.Quadratic())
		data, err := s.form.problem(s.Data)
		if err != nil {
			b.Fatal(err)
		}
		return peer(data, &set)
	},
		"lp/adlittle.mps.gz", "lp/80bau3b.mps.gz", "lp/bnl2.mps.gz", "lp/boeing1.mps.gz", "lp/pilot4.mps.gz", "lp/scfxm3.mps.gz",
		"qp/HS118.qps.gz", "qp/QADLITTL.qps.gz", "qp/DUAL2.qps.gz", "qp/CVXQP1_S.qps.gz", "qp/MOSARQP2.qps.gz", "qp/AUG3DCQP.qps.gz",
		"qp/CVXQP3_M.qps.gz",
	)
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
