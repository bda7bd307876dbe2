//go:build clarabel && cgo && unix

package clarabel

import (
	"path"
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/internal/sidebyside"
	cclarabel "github.com/conetune/conetune/internal/cgo/clarabel"
)

// BenchmarkPython sets up and solves problems of public collections in turns with the Python package of
// Clarabel, with its mirror in Go (package internal/cgo/clarabel), and through backends.Open, all on the
// same rows with the same settings: Clarabel's own, but one thread and no presolve. It reports the least
// processor time of each; the iterations must be the same.
//
//	CONETUNE_BENCH_DATA=DIR CONETUNE_BENCH_PYTHON=python3 \
//	    go test -tags clarabel -run '^$' -bench Python -benchtime 20x ./backends/clarabel
func BenchmarkPython(b *testing.B) {
	for _, file := range []string{
		"qp/HS118.qps.gz", "qp/QADLITTL.qps.gz", "qp/DUAL2.qps.gz", "qp/CVXQP1_S.qps.gz", "qp/MOSARQP2.qps.gz", "qp/AUG3DCQP.qps.gz", "qp/CVXQP3_M.qps.gz",
		"conic/beck751.cbf.gz", "conic/jha88.cbf.gz", "conic/chainsing_1000_1.cbf.gz", "conic/nb.cbf.gz", "conic/qssp30.cbf.gz",
		"sdp/control2.dat-s.gz", "sdp/gpp124-1.dat-s.gz", "sdp/hinf1.dat-s.gz", "sdp/theta1.dat-s.gz", "sdp/truss1.dat-s.gz",
	} {
		b.Run(path.Base(file), func(b *testing.B) {
			p := sidebyside.Problem(b, file)
			o := backends.Options{Eps: 2e-8, NoPresolve: true, Settings: Settings{NoRescaling: true, Retries: -1}}
			s, err := Backend{}.Setup(p, o)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			form, set := s.(*solver).form, given(o.WithDefaults(), s.(*solver).settings)
			data := form.problem(p)
			var w *cclarabel.Solver
			sidebyside.Beside(b, peer(data, &set), func() error {
				w, err = cclarabel.New(data, &set)
				return err
			}, func() int {
				point := &cclarabel.Solution{X: make([]float64, len(data.Q)), S: make([]float64, len(data.B)), Z: make([]float64, len(data.B))}
				info, err := w.Solve(point, nil, 0)
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
