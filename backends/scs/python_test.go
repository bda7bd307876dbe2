//go:build ((scs && cgo) || scs_go) && unix

package scs

import (
	"path"
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/internal/sidebyside"
	mirror "github.com/conetune/conetune/internal/mirror/scs"
)

// BenchmarkPython sets up and solves problems of public collections in turns with the
// Python package of SCS, with its mirror in Go (package internal/mirror/scs), and through
// backends.Open, all on the same rows with the same settings. It reports the least
// time of each; the iterations must be the same.
//
//	CONETUNE_BENCH_DATA=DIR CONETUNE_BENCH_PYTHON=python3 \
//	    go test -tags scs -run '^$' -bench Python -benchtime 20x ./backends/scs
func BenchmarkPython(b *testing.B) {
	for _, file := range []string{
		"qp/HS118.qps.gz", "qp/QADLITTL.qps.gz", "qp/DUAL2.qps.gz", "qp/MOSARQP2.qps.gz", "qp/AUG3DCQP.qps.gz",
		"conic/beck751.cbf.gz", "conic/jha88.cbf.gz", "conic/chainsing_1000_1.cbf.gz", "conic/nb.cbf.gz", "conic/qssp30.cbf.gz",
	} {
		b.Run(path.Base(file), func(b *testing.B) {
			p := sidebyside.Problem(b, file)
			o := backends.Options{Eps: 1e-5, Settings: Settings{EpsAbs: 1e-5, EpsRel: 1e-5, NoRescaling: true, Retries: -1}}
			s, err := Backend{}.Setup(p, o)
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			form, set := s.(*solver).form, s.(*solver).base
			data := form.problem(p)
			var w *mirror.Work
			sidebyside.Beside(b, peer(data, &form.cones, &set), func() error {
				w, err = mirror.New(library, data, &form.cones, &set)
				return err
			}, func() int {
				point := &mirror.Solution{X: make([]float64, len(data.C)), Y: make([]float64, len(data.B)), S: make([]float64, len(data.B))}
				info, err := w.Solve(point, false, nil)
				if err != nil {
					b.Fatal(err)
				}
				w.Close()
				return info.Iterations
			}, func() int { return backendtest.Solve(b, backends.Checked(Backend{}), p, o).Iterations })
		})
	}
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
