package tune

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"
)

// cmaSpread is the standard deviation of the first population along each axis, as a share of the axis.
const cmaSpread = 0.3

// unsolved is the value of a point whose lower level could not be solved: worse than any, but
// a number, by which the strategy can rank.
const unsolved = math.MaxFloat64

// cmaes is the evolution strategy with covariance matrix adaptation of gonum (O. Krause, D. Rodriguez Arbones, C. Igel:
// CMA-ES with optimal covariance update and storage complexity, NIPS 2016). It starts in the middle of the box. Points
// outside of it are mirrored at its sides. Where the distribution has shrunk to a point before the evaluations are used
// up, it starts again, with twice the population.
func (t *task) cmaes(ctx context.Context) (*Result, error) {
	source := t.source(streamCMAES)
	return t.search(ctx, func(dim int, evaluate func(unit []float64) (float64, error)) error {
		population := 4 + int(3*math.Log(float64(dim))) // the default of the strategy
		for left := t.evaluations(); left > 0; population *= 2 {
			var failed error
			problem := optimize.Problem{
				Func: func(x []float64) float64 {
					if failed != nil || left == 0 {
						return unsolved
					}
					left--
					unit := make([]float64, dim)
					for k, v := range x {
						unit[k] = mirror(v)
					}
					value, err := evaluate(unit)
					if failed = err; failed != nil || !(value < unsolved) {
						return unsolved
					}
					return value
				},
				Status: func() (optimize.Status, error) {
					if failed != nil || left == 0 {
						return optimize.FunctionEvaluationLimit, nil
					}
					return optimize.NotTerminated, nil
				},
			}
			start := slices.Repeat([]float64{0.5}, dim)
			before := left
			_, err := optimize.Minimize(problem, start, &optimize.Settings{Converger: optimize.NeverTerminate{}},
				&optimize.CmaEsChol{InitStepSize: cmaSpread, Population: population, Src: source})
			if failed != nil {
				return failed
			}
			if left == before {
				return errors.Join(errors.New("tune: cma-es made no evaluation"), err)
			}
		}
		return nil
	})
}

// mirror reflects v at 0 and 1 until it lies between them.
func mirror(v float64) float64 {
	v = math.Abs(math.Mod(v, 2))
	if v > 1 {
		return 2 - v
	}
	return v
}
