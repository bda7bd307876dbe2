//go:build clarabel && cgo && unix

package clarabel

import (
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/sidebyside"
	cclarabel "github.com/conetune/conetune/internal/cgo/clarabel"
)

// BenchmarkPython sets up and solves problems of public collections in turns with the Python package of Clarabel and through
// backends.Open, on the same rows with the same settings: Clarabel's own,
// but one thread and no presolve. The iterations must be the
// same.
//
//	CONETUNE_BENCH_DATA=DIR CONETUNE_BENCH_PYTHON=python3 \
//	    go test -tags clarabel -run '^$' -bench Python -benchtime 20x ./backends/clarabel
func BenchmarkPython(b *testing.B) {
	o := backends.Options{Eps: 2e-8, NoPresolve: true, Settings: Settings{NoRescaling: true, Retries: -1}}
	sidebyside.Python(b, Backend{}, o, func(opened backends.Solver) any {
		s := opened.(*solver)
		set := given(o.WithDefaults(), s.settings)
		return peer(s.form.problem(s.Data), &set)
	},
		"qp/HS118.qps.gz", "qp/QADLITTL.qps.gz", "qp/DUAL2.qps.gz", "qp/CVXQP1_S.qps.gz", "qp/MOSARQP2.qps.gz", "qp/AUG3DCQP.qps.gz",
		"qp/CVXQP3_M.qps.gz", "conic/beck751.cbf.gz", "conic/jha88.cbf.gz", "conic/chainsing_1000_1.cbf.gz", "conic/nb.cbf.gz",
		"conic/qssp30.cbf.gz", "sdp/control2.dat-s.gz", "sdp/gpp124-1.dat-s.gz", "sdp/hinf1.dat-s.gz", "sdp/theta1.dat-s.gz",
		"sdp/truss1.dat-s.gz",
	)
}

// peer describes the problem to the Python package.
func peer(d *cclarabel.Data, s *cclarabel.Settings) any {
	var cones []any
	for _, c := range d.Cones {
		name, arguments := "", []any{c.Dim}
		switch c.Kind {
		case cclarabel.Zero:
			name = "ZeroConeT"
		case cclarabel.Nonnegative:
			name = "NonnegativeConeT"
		case cclarabel.SecondOrder:
			name = "SecondOrderConeT"
		case cclarabel.Exponential:
			name, arguments = "ExponentialConeT", []any{}
		case cclarabel.Power:
			name, arguments = "PowerConeT", []any{c.Weights[0]}
		case cclarabel.GeneralizedPower:
			name, arguments = "GenPowerConeT", []any{c.Weights, c.Extra}
		case cclarabel.PSD:
			name = "PSDTriangleConeT"
		}
		cones = append(cones, []any{name, arguments})
	}
	return map[string]any{
		"library": "clarabel", "P": d.P, "A": d.A, "q": d.Q, "b": d.B, "cones": cones,
		"settings": map[string]any{
			"tol_feas": s.TolFeas, "tol_gap_abs": s.TolGapAbs, "tol_gap_rel": s.TolGapRel, "tol_infeas_rel": s.TolInfeasRel,
			"max_threads": s.MaxThreads, "presolve_enable": !s.NoPresolve,
		},
	}
}
