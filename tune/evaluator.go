package tune

import (
	"context"
	"slices"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/dca"
	"github.com/conetune/conetune/tune/hypergradient"
)

// evaluator solves lower levels in penalty form, each from the one before. Those with losses and penalties that the packages
// below lower know are solved there, which takes a tenth of the time of a conic program, where the backend is ours;
// the others, and what cannot be solved there, are conic programs.
type evaluator struct {
	task  *Task
	space *space
	// direct is nil if all are conic programs, last the point before.
	direct hypergradient.Model
	last   *hypergradient.Point
	// starter is nil if the last point is where to start from, or else chooses among points, at most keptPoints of those before.
	starter hypergradient.Starter
	points  []*hypergradient.Point
	conic   *dca.Penalized // nil before the first
}

// keptPoints bounds the memory for points to start from.
const keptPoints = 64

func (t *Task) evaluator(s *space) (*evaluator, error) {
	e := &evaluator{task: t, space: s}
	var err error
	if e.direct, err = t.descends(); err != nil || e.direct != nil {
		e.starter = hypergradient.StarterOf(e.direct)
		return e, err
	}
	return e, e.compile()
}

// directModels are those that the packages below lower solve faster, matrix completion unless it is large.
var directModels = []string{"elastic-net", "logistic", "matrix-completion", "sparse-group-lasso", "svm", "weighted-lasso"}

// descends returns the model for direct solves, shared by all evaluators; nil if there is none.
func (t *Task) descends() (hypergradient.Model, error) {
	if t.direct != nil || t.Config.backend() != "native" || !slices.Contains(directModels, known(t.Model)) {
		return t.direct, nil
	}
	m, err := differentiable(t.Model)
	if err != nil {
		return nil, err
	}
	if c, ok := m.(*completion); ok && !c.Small() {
		return nil, nil
	}
	t.direct = m
	return m, nil
}

func (e *evaluator) compile() (err error) {
	e.conic, err = dca.NewPenalized(e.task.Program, e.space.kinds, e.task.settings())
	return err
}

// directGap is the relative gap of direct solves.
const directGap = 1e-9

// at solves and scores the lower level at values of the axes. The trial has no X where the solve failed.
func (e *evaluator) at(ctx context.Context, values []float64) (Trial, error) {
	weights, lambda, upper := e.space.hyper(values)
	tr := Trial{Lambda: lambda, Upper: upper}
	solved, err := e.descend(ctx, &tr)
	if err == nil && !solved {
		err = e.solve(ctx, &tr, weights)
	}
	if err != nil {
		return tr, err
	}
	if tr.X != nil {
		score, _ := e.task.score(tr.X)
		tr.Errors = &score
	}
	tr.Elapsed = e.task.Elapsed()
	return tr, nil
}

// descend solves the lower level of a trial directly. It says whether that went well.
func (e *evaluator) descend(ctx context.Context, tr *Trial) (bool, error) {
	if e.direct == nil {
		return false, nil
	}
	h, start := slices.Concat(tr.Lambda, tr.Upper), e.last
	if len(e.points) > 0 {
		start = e.starter.Start(h, e.points)
	}
	pt, err := e.direct.Solve(ctx, h, directGap, start)
	if err != nil || !pt.Solved {
		return ctx.Err() != nil, err
	}
	e.last, tr.X = pt, pt.X
	if e.starter != nil {
		if len(e.points) == keptPoints {
			e.points = slices.Delete(e.points, 0, 1)
		}
		e.points = append(e.points, pt)
	}
	return true, nil
}

// solve solves it as a conic program. After direct solves that begins afresh, so that the result does not depend on which of the
// points before were solved this way.
func (e *evaluator) solve(ctx context.Context, tr *Trial, weights []float64) error {
	var err error
	switch {
	case e.conic == nil:
		err = e.compile()
	case e.direct != nil:
		err = e.conic.Forget()
	}
	if err != nil {
		return err
	}
	s, err := e.conic.Solve(ctx, weights, tr.Upper)
	if err != nil {
		return err
	}
	if s.X != nil {
		tr.X, tr.Inaccurate = s.X, s.Status != backends.Optimal
	}
	return nil
}

// forget makes the next solve independent of those before.
func (e *evaluator) forget() error {
	e.last, e.points = nil, nil
	if e.conic == nil {
		return nil
	}
	return e.conic.Forget()
}

// cold makes the next solve start from nothing.
func (e *evaluator) cold() {
	e.last = nil
	if e.conic != nil {
		e.conic.Cold()
	}
}

// close frees the solver and counts its work.
func (e *evaluator) close() {
	if e.conic != nil {
		e.task.AddStats(e.conic.Stats())
		_ = e.conic.Close() // the results are there
	}
}
