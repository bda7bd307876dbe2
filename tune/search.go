package tune

import (
	"context"
	"errors"

	"github.com/conetune/conetune/dca"
)

// errStopped ends a method whose context has ended; the result then is what was recorded.
var errStopped = errors.New("tune: stopped")

// search runs a method that proposes one point of the unit cube after the other. Its lower levels are solved each from
// the one before. An error of evaluate ends the method, which passes it on.
func (t *task) search(ctx context.Context, s *space, propose func(evaluate func(unit []float64) (float64, error)) error) (*Result, error) {
	e, err := t.evaluator(ctx, s)
	if err != nil {
		return nil, err
	}
	err = propose(func(unit []float64) (float64, error) {
		t.begin(Place{Place: dca.Place{Stage: StageSearch, Point: t.trials, Points: t.evaluations()}})
		tr, err := e.at(ctx, s.values(unit))
		if err != nil {
			return 0, err
		}
		if ctx.Err() != nil {
			return 0, errStopped
		}
		return t.record(tr), nil
	})
	e.close()
	if err != nil && !errors.Is(err, errStopped) {
		return nil, err
	}
	return t.finish(ctx, "", "")
}
