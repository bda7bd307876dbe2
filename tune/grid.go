package tune

import (
	"cmp"
	"context"
	"fmt"
	"math"
)

// DefaultEvaluations is the budget of a search, the paper's.
const DefaultEvaluations = 100

// evaluations is the budget of the task.
func (t *task) evaluations() int {
	return cmp.Or(t.Config.Evaluations, t.parzenEach(), DefaultEvaluations)
}

// checkGrid rejects spaces in which a grid is too coarse.
func (t *task) checkGrid() error {
	axes, err := t.checkSearch(ScopeCommon)
	if err != nil {
		return err
	}
	_, err = perAxis(t.evaluations(), len(axes))
	return err
}

// perAxis is how many values of each axis make a grid of at most n points.
func perAxis(n, axes int) (int, error) {
	if axes == 0 {
		return 1, nil
	}
	k := int(math.Pow(float64(n), 1/float64(axes)))
	for math.Pow(float64(k+1), float64(axes)) <= float64(n) { // the root may be rounded down
		k++
	}
	if k < 2 && n > 1 {
		return 0, fmt.Errorf("tune: a grid with 2 values on each of %d axes has more than the %d points allowed: allow "+
			"more evaluations, take the scope %q, or the method random or tpe", axes, n, ScopeCommon)
	}
	return k, nil
}

// grid tries all points of a grid that is uniform in the logarithms, from the large values, where solutions are simple,
// to the small ones.
func (t *task) grid(ctx context.Context) (*Result, error) {
	s, err := t.space(ctx, ScopeCommon)
	if err != nil {
		return nil, err
	}
	k, err := perAxis(t.evaluations(), len(s.axes))
	if err != nil {
		return nil, err
	}
	var points [][]float64 // of the unit cube
	for i := range int(math.Pow(float64(k), float64(len(s.axes)))) {
		unit := make([]float64, len(s.axes))
		for a := range unit {
			unit[a] = 0.5 // a single point is in the middle
			if k > 1 {
				unit[a] = 1 - float64(i%k)/float64(k-1)
			}
			i /= k
		}
		points = append(points, unit)
	}
	return t.sweep(ctx, s, points)
}
