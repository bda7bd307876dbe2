//go:build ((osqp && cgo) || osqp_go) && unix

package osqp

import (
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/sidebyside"
	mirror "github.com/conetune/conetune/internal/mirror/osqp"
)

// BenchmarkPython sets up and solves problems of public collections in turns with the Python package of OSQP and through
// backends.Open, on the same rows with the same settings: one round, without
// polishing, at 1e-5. The iterations must be the
// same.
//
//	CONETUNE_BENCH_DATA=DIR CONETUNE_BENCH_PYTHON=python3 \
//	    go test -tags osqp -run '^$' -bench Python -benchtime 20x ./backends/osqp
func BenchmarkPython(b *testing.B) {
	o := backends.Options{
		Eps: 2e-5, Settings: Settings{StartEps: 1e-5, NoPolishing: true, NoRescaling: true, Patience: -1, Retries: -1},
	}
	sidebyside.Python(b, Backend{}, o, func(opened backends.Solver) any {
		s := opened.(*solver)
		set := s.mirror(1e-5, o.WithDefaults().ClaimEps()/2)
		data, err := s.given(s.Data)
		if err != nil {
			b.Fatal(err)
		}
		return peer(data, &set)
	},
		"qp/HS118.qps.gz", "qp/QADLITTL.qps.gz", "qp/DUAL2.qps.gz", "qp/DUALC2.qps.gz", "qp/PRIMAL1.qps.gz", "qp/CVXQP1_S.qps.gz",
		"qp/MOSARQP2.qps.gz", "qp/AUG3DCQP.qps.gz", "qp/LASER.qps.gz", "qp/CVXQP3_M.qps.gz",
	)
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
