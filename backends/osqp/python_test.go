//go:build ((osqp && cgo) || osqp_go) && unix

package osqp

import (
	"path"
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/internal/sidebyside"
	mirror "github.com/conetune/conetune/internal/mirror/osqp"
)

// BenchmarkPython sets up and solves problems of a public collection in turns with the
// Python package of OSQP, with its mirror in Go (package internal/mirror/osqp), and through
// backends.Open, all on the same rows with the same settings: one round, without
// polishing, at 1e-5. It reports the least processor time of each; the iterations must
// be the same.
//
//	CONETUNE_BENCH_DATA=DIR CONETUNE_BENCH_PYTHON=python3 \
//	    go test -tags osqp -run '^$' -bench Python -benchtime 20x ./backends/osqp
func BenchmarkPython(b *testing.B) {
	for _, file := range []string{
		"qp/HS118.qps.gz", "qp/QADLITTL.qps.gz", "qp/DUAL2.qps.gz", "qp/DUALC2.qps.gz", "qp/PRIMAL1.qps.gz",
		"qp/CVXQP1_S.qps.gz", "qp/MOSARQP2.qps.gz", "qp/AUG3DCQP.qps.gz", "qp/LASER.qps.gz", "qp/CVXQP3_M.qps.gz",
	} {
		b.Run(path.Base(file), func(b *testing.B) {
			p := sidebyside.Problem(b, file)
			o := backends.Options{Eps: 2e-5, Settings: Settings{StartEps: 1e-5, NoPolishing: true, NoRescaling: true, Patience: -1, Retries: -1}}
			opened, err := Backend{}.Setup(p, o)
			if err != nil {
				b.Fatal(err)
			}
			defer opened.Close()
			s := opened.(*solver)
			set := s.mirror(1e-5, o.WithDefaults().ClaimEps()/2)
			data, err := s.given(s.Data)
			if err != nil {
				b.Fatal(err)
			}
			var w *mirror.Solver
			n, m := p.Dims()
			sidebyside.Beside(b, peer(data, &set), func() error {
				w, err = mirror.New(library, data, &set)
				return err
			}, func() int {
				point := &mirror.Solution{X: make([]float64, n), Y: make([]float64, m), PrimalCertificate: make([]float64, m), DualCertificate: make([]float64, n)}
				info, err := w.Solve(point, nil)
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
func peer(d *mirror.Data, s *mirror.Settings) any {
	return map[string]any{
		"library": "osqp", "P": d.P, "A": d.A, "q": d.Q, "l": d.L, "u": d.U,
		"settings": map[string]any{ // the others have their defaults in both
			"eps_abs": s.EpsAbs, "eps_rel": s.EpsRel, "eps_prim_inf": s.EpsPrimalInfeasible, "eps_dual_inf": s.EpsDualInfeasible,
			"max_iter": s.MaxIterations, "polishing": 0,
		},
	}
}
