//go:build ((scs && cgo) || scs_go) && unix

package scs

import (
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/sidebyside"
	mirror "github.com/conetune/conetune/internal/mirror/scs"
)

// BenchmarkPython sets up and solves problems of public collections in turns with the Python package of SCS and through
// backends.Open, on the same rows with the same settings: its own at 1e-5. The iterations must be the
// same.
//
//	CONETUNE_BENCH_DATA=DIR CONETUNE_BENCH_PYTHON=python3 \
//	    go test -tags scs -run '^$' -bench Python -benchtime 20x ./backends/scs
func BenchmarkPython(b *testing.B) {
	o := backends.Options{Eps: 1e-5, Settings: Settings{EpsAbs: 1e-5, EpsRel: 1e-5, NoRescaling: true, Retries: -1}}
	sidebyside.Python(b, Backend{}, o, func(opened backends.Solver) any {
		s := opened.(*solver)
		return peer(s.given(), &s.form.cones, &s.base)
	},
		"qp/HS118.qps.gz", "qp/QADLITTL.qps.gz", "qp/DUAL2.qps.gz", "qp/MOSARQP2.qps.gz", "qp/AUG3DCQP.qps.gz", "conic/beck751.cbf.gz",
		"conic/jha88.cbf.gz", "conic/chainsing_1000_1.cbf.gz", "conic/nb.cbf.gz", "conic/qssp30.cbf.gz",
	)
}

// peer describes the problem to the Python package, with the same linear solver.
func peer(d *mirror.Data, k *mirror.Cone, s *mirror.Settings) any {
	cone := map[string]any{"z": k.Zero, "l": k.Nonnegative, "ep": k.Exponential, "ed": k.DualExp}
	for name, v := range map[string][]int{"q": k.SecondOrder, "s": k.PSD} {
		if len(v) > 0 {
			cone[name] = v
		}
	}
	if len(k.Power) > 0 {
		cone["p"] = k.Power
	}
	if k.Box != nil {
		cone["bl"], cone["bu"] = k.Box.Lower, k.Box.Upper
	}
	return map[string]any{
		"library": "scs", "P": d.P, "A": d.A, "b": d.B, "c": d.C, "cone": cone,
		"settings": map[string]any{
			"linear_solver": "qdldl", "scale": s.Scale, "max_iters": s.MaxIters, "eps_abs": s.EpsAbs, "eps_rel": s.EpsRel,
			"eps_infeas": s.EpsInfeas,
		},
	}
}
