package tune

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/conetune/conetune/problems"
)

// Run selects the hyperparameters of m by the method of the configuration. The
// error is for a configuration, a model or a backend without meaning, and for a method that cannot do
// the task; limits and cancellation are in the status of the result, which then holds what was reached.
func Run(ctx context.Context, m problems.Model, c Config) (*Result, error) {
	return run(ctx, m, c, nil)
}

// run is [Run], begun at start unless that is nil.
func run(ctx context.Context, m problems.Model, c Config, start *Selection) (*Result, error) {
	begun := time.Now()
	t, err := newTask(m, c, start, begun)
	if err != nil {
		return nil, err
	}
	limits := t.limits(ctx, begun)
	defer limits.end()
	search := t.tuner.tune
	if t.allFixed() {
		search = (*task).vfidca
	}
	out, err := search(t, limits.search)
	if errors.Is(err, errStopped) {
		out, err = t.finish(limits.search, "", "")
	}
	if err != nil {
		return nil, err
	}
	if limits.search.Err() != nil {
		out.end(stoppedBy(limits.search.Err()))
	}
	if c.Fixed != nil {
		out.say(c.given())
		out.Given = t.allFixed()
	}
	out.rate(t)
	if err := t.simplify(limits.search, out); err != nil {
		return nil, err
	}
	if err := t.curve(limits.search, out); err != nil {
		return nil, err
	}
	t.fit, t.together = nil, nil // the final training makes one of more rows
	if err := out.retrain(t, limits); err != nil {
		return nil, err
	}
	if err := t.path(limits.search, out); err != nil {
		return nil, err
	}
	t.spread(out, m)
	out.settle()
	out.dropNegligible(t)
	out.TimeSeconds = time.Since(begun).Seconds()
	return out, nil
}

// Compare runs several methods one after the other on the same model with the same configuration, each with its own
// clock and time limit. With chain, each method begins at the selection of the one
// before it. A cancelled context ends the comparison with the method that it met.
func Compare(ctx context.Context, m problems.Model, methods []string, chain bool, c Config) ([]*Result, error) {
	for _, name := range methods {
		c.Method = name
		if err := Check(m, c); err != nil {
			return nil, err
		}
	}
	if len(methods) == 0 {
		return nil, fmt.Errorf("tune: no methods to compare")
	}
	var results []*Result
	var start *Selection
	for _, name := range methods {
		c.Method = name
		r, err := run(ctx, m, c, start)
		if err != nil {
			return results, err
		}
		results = append(results, r)
		if ctx.Err() != nil {
			break
		}
		if chain && r.Selection != nil {
			start = r.Selection
		}
	}
	return results, nil
}

// Check says why the method of the configuration cannot select the hyperparameters of m, as far as that is known
// before the work; nil if it can.
func Check(m problems.Model, c Config) error {
	_, err := newTask(m, c, nil, time.Now())
	return err
}
