package dca

import (
	"context"
	"log/slog"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/crew"
	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/internal/stop"
)

// joint solves both programs of an iteration by the fits of [Program.Fit], where it has parts for them. What they
// cannot solve is left to conic programs.
type joint struct {
	parts   []bilevel.Fit
	lows    []bilevel.WithinSolver
	sub     bilevel.Subproblem
	workers int
	scale   []float64 // l of each part at x = 0
	fits    int       // that were solved
	coarse  float64   // the gap that is enough for them, see [lower.Traits]
	log     *slog.Logger
}

// jointEngine is the name of this engine in traces.
const jointEngine = "fit"

// jointTol is the gap of both programs, relative to the training loss at x = 0; compactTol is that of fits whose points
// are compact, which are large: their last digits cost most of the time.
const jointTol, compactTol = 1e-9, 1e-4

// valueShare times it is the largest gap of subproblems: the value of the lower level, known to its gap, is in them
// with a weight of up to the penalty.
const valueShare = 10

// inexact is the share of the largest gap of a subproblem that the method allows, rho/2 |z_k - z_{k-1}|^2 where only
// that keeps 0 from the subdifferential, see [Result]: solutions are within a tenth of a step from the optimum.
const inexact = 1e-2

// tol is the gap of both programs.
func (j *joint) tol() float64 {
	tol := jointTol
	if j.compact() {
		tol = compactTol
	}
	return math.Max(tol, j.coarse)
}

// newJoint returns nil where the fit is none for this. In penalty form it solves nothing.
func newJoint(p *Program, s *Settings, penalty bool) *joint {
	if p.Fit == nil {
		return nil
	}
	parts := bilevel.Parts(p.Fit)
	if parts == nil {
		return nil
	}
	j := &joint{parts: parts, coarse: p.Fit.Traits().Coarse, workers: s.workers(), log: s.Solver.Logger}
	if penalty {
		return j
	}
	j.sub = parts[0].Subproblem(parts, s.workers())
	for t, zero := range j.each(j.zeros()) {
		j.scale = append(j.scale, math.Max(parts[t].Values(zero).Train, math.SmallestNonzeroFloat64))
		j.lows = append(j.lows, parts[t].Within())
	}
	return j
}

// compact says that points are no values of variables of conic programs, which then take the place of no fit.
func (j *joint) compact() bool {
	if j == nil {
		return false
	}
	return j.parts[0].Traits().Compact()
}

// zeros returns x = 0.
func (j *joint) zeros() (x [][]float64) {
	for _, f := range j.parts {
		for _, n := range f.Shape() {
			x = append(x, make([]float64, n))
		}
	}
	return x
}

// each divides the values of all variables among the parts.
func (j *joint) each(x [][]float64) [][][]float64 {
	out := make([][][]float64, len(j.parts))
	for t, f := range j.parts {
		n := len(f.Shape())
		out[t], x = x[:n:n], x[n:]
	}
	return out
}

// values are L, l and the rows P_i(x) - h_i, part by part.
func (j *joint) values(z iterate) (validation, train float64, rows []float64) {
	share := 1 / float64(len(j.parts))
	for t, x := range j.each(z.x) {
		v := j.parts[t].Values(x)
		validation += share * v.Validation
		train += share * v.Train
		for i, p := range v.Penalties {
			rows = append(rows, p-z.h[i])
		}
	}
	return validation, train, rows
}

// short says that the next step would be shorter than the tolerance, without taking it. The subproblem is no larger at
// its solution than at z_k, so that where no validation loss is negative
//
//	rho/2 |z_k+1 - z_k|^2 <= L(z_k) + alpha t_k.
//
// It is asked of fits whose last digits are of no use, as they take long: with a bound for each of thousands of
// features, or the entries of a large matrix, |z_k| is large beside all that a step can be.
func (r *run) short() bool {
	j := r.low.joint
	if j == nil || j.tol() == jointTol || r.accelerated {
		return false
	}
	validation, train, rows := j.values(r.centre)
	t := math.Max(0, math.Max(train-r.current.Value, slices.Max(rows)))
	longest := 2 * (validation + r.alpha*t) / r.settings.Rho // squared
	return math.Max(t, math.Sqrt(longest/j.size(r.centre))) < r.settings.Tol
}

// debug logs where that is asked for.
func (j *joint) debug(message string, args ...any) {
	if j.log != nil {
		j.log.Debug(message, args...)
	}
}

// mostValues is the number of values of x up to which what fits cannot solve is left to conic programs: larger ones may
// not fit into memory.
const mostValues = 50_000

// large says that there are no conic programs to go on with.
func (j *joint) large() bool {
	size := 0
	for _, f := range j.parts {
		for _, n := range f.Shape() {
			size += n
		}
	}
	return size > mostValues
}

// retries says that a subproblem that is not solved is worth another try with a larger penalty: there are no conic
// programs to go on with, and the relative gap, which is infinite or no number where nothing was found, is not as large
// as that of the try before.
func (j *joint) retries(gap, before float64) bool {
	return j != nil && j.large() && (math.IsInf(gap, 1) || !(gap >= before))
}

// alone says that there are no conic programs for what it cannot solve.
func (j *joint) alone() bool { return j != nil && (j.large() || j.compact()) }

// verdict sums up an answer whose gap, relative to the losses at x = 0, is missed where it is not solved: such a one is
// taken only where there are no conic programs to go on with. It is of use unless its status is of none.
func (j *joint) verdict(ctx context.Context, found, solved bool, missed float64) (c conic, use bool) {
	switch {
	case found && solved:
		return conic{status: backends.Optimal, residual: math.NaN(), engine: jointEngine}, true
	case found && j.alone() && missed <= accept:
		return conic{status: backends.Inaccurate, residual: missed, engine: jointEngine}, true
	case ctx.Err() != nil:
		return conic{status: backends.Cancelled, residual: missed}, false
	}
	return conic{status: backends.NumericalError, residual: missed}, false
}

// leaves says that an answer of no use is left to conic programs.
func (j *joint) leaves(c conic) bool { return c.status != backends.Cancelled && !j.alone() }

// begin gives the lower levels a start in penalty form.
func (j *joint) begin(ctx context.Context, lambda []float64, x [][]float64) error {
	if j == nil || len(lambda) == 0 || !(slices.Min(lambda) > 0) {
		return nil
	}
	for t, of := range j.each(x) {
		if _, err := stop.Do(ctx, false, func() (bool, error) { return true, j.lows[t].Begin(ctx, lambda, of) }); err != nil {
			return err
		}
	}
	return nil
}

// lower solves the lower level within radii h, all positive; nil where it cannot.
func (j *joint) lower(ctx context.Context, h []float64) (*Solution, error) {
	found, errs := make([]*bilevel.Within, len(j.parts)), make([]error, len(j.parts))
	crew.Each(len(j.parts), j.workers, func(t int) {
		found[t], errs[t] = stop.Do(ctx, &bilevel.Within{Gap: math.Inf(1)},
			func() (*bilevel.Within, error) { return j.lows[t].Solve(ctx, h, j.tol()*j.scale[t]) })
	})
	j.fits += len(j.parts)
	share := 1 / float64(len(j.parts))
	out := &Solution{h: slices.Clone(h), slope: make([]float64, len(h))}
	by, _ := j.verdict(ctx, true, true, 0)
	for t, s := range found {
		if errs[t] != nil {
			return nil, errs[t]
		}
		missed := s.Gap / j.scale[t]
		c, use := j.verdict(ctx, s.X != nil, s.Solved, missed)
		if !use {
			j.debug("dca: lower level not solved by the fit", "gap", s.Gap)
			if j.leaves(c) {
				return nil, nil
			}
			out.X, out.Gap = nil, math.NaN()
			out.by(c)
			return out, nil
		}
		if c.status != backends.Optimal {
			by.status, by.residual = c.status, largest(by.residual, c.residual)
		}
		out.Value += share * s.Loss
		out.parts = append(out.parts, share*s.Loss)
		out.Gap = math.Max(out.Gap, missed)
		out.X = append(out.X, s.X...)
		floats.AddScaled(out.slope, -share, s.Lambda)
	}
	out.by(by)
	j.debug("dca: lower level solved by the fit", "value", out.Value, "gap", out.Gap)
	return out, nil
}

// subproblem solves the second program; nil where it cannot.
func (j *joint) subproblem(ctx context.Context, b *subproblem) (*answer, error) {
	if j == nil {
		return nil, nil
	}
	gamma := floats.ScaleTo(make([]float64, len(b.lower.slope)), -1, b.lower.slope)
	scale := floats.Sum(j.scale) / float64(len(j.scale))
	tol := j.tol() * math.Max(1, math.Min(valueShare, b.penalty))
	tol = math.Max(tol*scale, inexact*b.settings.Rho/2*b.moved*b.moved)
	centre := &bilevel.Centre{
		X: j.each(b.centre.x), R: b.centre.h, Value: b.lower.Value, Gamma: gamma, Epsilon: b.settings.Epsilon,
		Alpha: b.penalty, Rho: b.settings.Rho, Low: b.lo, High: b.hi, Tol: tol,
	}
	s, err := stop.Do(ctx, &bilevel.Subsolution{Gap: math.Inf(1)},
		func() (*bilevel.Subsolution, error) { return j.sub(ctx, centre) })
	if err != nil {
		return nil, err
	}
	j.fits += s.Fits
	c, use := j.verdict(ctx, s.X != nil, s.Solved, s.Gap/scale)
	c.iterations = s.Fits
	if !use {
		j.debug("dca: subproblem not solved by the fit", "gap", s.Gap, "fits", s.Fits)
		if j.leaves(c) {
			return nil, nil
		}
		return &answer{conic: c}, nil
	}
	j.debug("dca: subproblem solved by the fit", "objective", s.Objective, "gap", s.Gap, "fits", s.Fits)
	return &answer{
		conic: c, z: iterate{slices.Concat(s.X...), slices.Clone(s.R)}, eta: s.M0, mu: slices.Concat(s.M...), gap: s.Gap,
		usable: true,
	}, nil
}
