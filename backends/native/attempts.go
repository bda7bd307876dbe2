package native

import (
	"context"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/ldl"
)

// strategy is a way from an iterate to a solution.
type strategy interface {
	// String names the strategy in the log.
	String() string
	// aim computes the direction of a predictor-corrector step (Mehrotra 1992), and the step along it: it factors at the
	// scaling of the iterate, whose measures are given with the tolerance, and solves for the affine direction, then for
	// the combined one.
	aim(p progress, eps float64) error
	// move takes the step and returns its length.
	move() float64
	// standing returns the part of the start that is left, as far as it counts as progress, and whether a stall counts.
	standing() (left float64, late bool)
	// relief goes over to another way of computing the directions; false if there is none.
	relief() bool
}

// attempt is a run of a strategy.
type attempt struct {
	strategy strategy
	begin    func(*runner) error
	because  string
	// enough says, after the attempt, that none of those to come would come nearer; nil for never.
	enough func(*runner) bool
	warm   bool // it begins at the end of another solve
}

// origin is where a solve begins.
type origin int

const (
	fresh   origin = iota
	warmed         // at a point that the caller has given
	resumed        // where the last solve ended
)

// attempts lists what is tried, in this order, until one comes to a verdict or to a limit.
func (r *runner) attempts(from origin) []attempt {
	list := r.list[:0]
	here := func(r *runner) error {
		r.direct.first = remains{}
		return nil
	}
	switch {
	case from == resumed:
		list = append(list, attempt{r.strategy, here, "it goes on from the end of the last solve", (*runner).rooted, true})
	case from == warmed:
		list = append(list, attempt{r.embedding, here, "it begins at the given point", nil, true})
	case r.direct.fits():
		if all := r.direct.faces(); len(all) > 0 {
			list = append(list, attempt{r.direct, func(r *runner) error {
				r.direct.enter(all)
				return r.direct.start()
			}, "the multipliers of a cone are in a face of it", nil, false})
		}
		list = append(list, attempt{r.direct, func(r *runner) error { return r.direct.start() },
			"in linear programs over matrices, one side may have no interior",
			func(r *runner) bool { return r.rooted() && r.best.error <= nearSolved }, false})
	}
	whole := func(r *runner) error { return r.embedding.start(false) }
	differences := func(r *runner) error { return r.embedding.start(true) }
	if len(r.nonsymmetric) == 0 {
		list = append(list, attempt{r.embedding, differences,
			"it takes all cones, and ends with a certificate where there is no solution", nil, false})
	} else {
		list = append(list, attempt{r.embedding, whole,
			"it takes all cones; with nonsymmetric ones the constant part whole loses fewer digits", nil, false},
			attempt{r.embedding, differences, "the constant part as a difference has other rounding", nil, false})
	}
	if r.direct.fits() {
		list = append(list, attempt{r.direct, func(r *runner) error { return r.direct.startAtBest() },
			"the best point is improved with directions that lose half as many digits", nil, false})
	}
	r.list = list
	return list
}

// rooted says whether the strategy at work is direct with root.
func (r *runner) rooted() bool { return r.strategy == strategy(r.direct) && r.direct.rooted }

// try makes the attempts of a list. The status is backends.Unsolved where none came to an end, and the error says why
// the last one did not.
func (r *runner) try(ctx context.Context, list []attempt) (status backends.Status, err error) {
	for _, a := range list {
		err = a.begin(r)
		r.strategy, r.anew = a.strategy, !a.warm
		if l := r.options.Logger; l != nil { // of which begin may have changed the name
			l.DebugContext(ctx, "native", "attempt", a.strategy.String(), "because", a.because)
		}
		if err == nil || r.stopped() {
			status, err = r.loop(ctx)
		}
		if len(r.direct.faced) > 0 {
			r.direct.leave()
		}
		if status != backends.Unsolved || a.enough != nil && a.enough(r) {
			break
		}
	}
	return status, err
}

// failure says why a step, or a run of steps, came to nothing.
type failure string

func (f failure) Error() string { return string(f) }

// The failures. What the context or the time has ended is errStopped instead.
const (
	errOutside    failure = "the point is at the boundary of a cone"
	errUnsolved   failure = "a Newton system could not be solved"
	errOffPath    failure = "no step stays near the central path"
	errShort      failure = "the steps became too short"
	errStruggling failure = "the Newton systems are too badly conditioned"
	errStalled    failure = "no further progress"
	errSlow       failure = "little progress"
	errNoStart    failure = "the starting point could not be computed"
)

// errStopped is what ends because stop was reached.
var errStopped = ldl.ErrStopped
