package backends

import (
	"fmt"
	"math"
)

// judge recomputes everything that a solution claims and sets its status to what holds.
func (s *checkedSolver) judge(out *Solution) {
	s.judgeClaim(out)
	s.tellUnheard(out)
}

func (s *checkedSolver) judgeClaim(out *Solution) {
	if out.Status == PrimalInfeasible || out.Status == DualInfeasible {
		s.judgeCertificate(out)
		return
	}
	n, m := s.data.Dims()
	if len(out.X) == n && len(out.Z) == m && len(out.S) == 0 && m > 0 {
		out.S = s.data.Slack(out.X)
	}
	usable := len(out.X) == n && len(out.S) == m && len(out.Z) == m &&
		allFinite(out.X) && allFinite(out.S) && allFinite(out.Z)
	if !usable {
		if out.Status == Optimal || out.Status == Inaccurate || out.Status == Unsolved {
			reject(out, fmt.Sprintf("the backend said %s without a finite point", out.Status))
		}
		withoutPoint(out)
		return
	}
	found := s.judged.measure(out.X, out.S, out.Z)
	out.Residuals, out.Objective, out.DualObjective = found.Residuals, found.primal, found.dual
	at := s.judged.at(s.options.Eps)
	switch {
	case at.Max() <= s.options.Eps && !s.content && at == found.beyond:
		out.Status = Inaccurate // there may be a certificate, which is worth more
		return
	case at.Max() <= s.options.Eps && !s.content && (out.Status == Inaccurate || out.Status == IterationLimit) &&
		s.unfinished(out):
		return
	case at.Max() <= s.options.Eps && out.Status != Cancelled && out.Status != NumericalError:
		out.Status = Optimal // also where a limit ended the solve with a point this good
		if why := s.judged.objection(s.options.Eps); why != "" {
			out.Status = Inaccurate
			addMessage(out, why)
			return
		}
		if at == found.beyond {
			addMessage(out, "the residuals are no more than the last places of what they are added up from")
		}
		distance, rounding := s.judged.check.distance(&s.data, out)
		most := max(mostDisputed, inUnitsFactor*s.options.Eps)
		if !s.data.small() { // the bound is a sum of more terms
			most = min(1, inUnitsFactor*most)
		}
		if terms := s.judged.sizeOfObjective(); !(distance <= most*terms) {
			out.Status, s.uncertain = Inaccurate, true
			addMessage(out, fmt.Sprintf(
				"by its residuals times its variables and multipliers the objective may be off by %.1e, from terms of %.1e",
				distance, terms))
			return
		}
		out.Distance = distance + rounding
		if s.shift > 0 {
			s.judgeDoubtful(out)
		}
	case out.Status == Optimal || out.Status == Unsolved:
		said := out.Status
		out.Status = Inaccurate
		addMessage(out, fmt.Sprintf("the backend said %s, but residuals %.1e (primal), %.1e (dual), %.1e (gap) miss %.1e",
			said, out.Residuals.Primal, out.Residuals.Dual, out.Residuals.Gap, s.options.Eps))
	}
}

// unfinished says that a point which meets the tolerance is where a run has got stuck unsettled: there may be another
// solution, far away. It is optimal only when nothing else is found.
func (s *checkedSolver) unfinished(out *Solution) bool {
	return s.judged.Unsettled(out.X, out.S, out.Z, s.options.Eps) > 1
}

// judgeCertificate judges z as a proof that no x satisfies the constraints, or x as one that the objective falls
// without bound, and scales it to the value -1.
func (s *checkedSolver) judgeCertificate(out *Solution) {
	n, m := s.data.Dims()
	v, length, ray, denied, what, value := &out.Z, m, s.judged.check.primal, "feasible x", "primal", "b'z - beta(z)"
	if out.Status == DualInfeasible {
		v, length, ray, denied, what, value = &out.X, n, s.judged.check.dual, "dual point", "dual", "q'x"
	}
	if len(*v) != length || !allFinite(*v) {
		reject(out, fmt.Sprintf("the backend said %s without a finite certificate", out.Status))
		return
	}
	eps := s.options.EpsInfeasible
	found, err := ray(&s.data).prove(*v, eps)
	if err == nil && found.residual > eps && found.residual <= nearCertificate {
		s.tooNear(out, denied, found)
		return
	}
	if err == nil && !(found.residual <= eps) {
		err = fmt.Errorf("backends: certificate of %s infeasibility has residual %.1e, which misses %.1e", what,
			found.residual, eps)
	}
	if err != nil {
		reject(out, err.Error())
		return
	}
	*v, out.Radius = found.v, found.radius
	scale(*v, -1/found.value)
	var slack []float64
	if out.Status == DualInfeasible {
		slack = make([]float64, m)
		entries(s.data.A, func(i, j int, v float64) { slack[i] -= v * out.X[j] })
	}
	if !allFinite(*v) || !allFinite(slack) {
		reject(out, fmt.Sprintf(
			"the certificate of %s infeasibility leaves the range of numbers when it is scaled to %s = -1", what, value))
		return
	}
	if out.S = slack; out.Status == DualInfeasible {
		out.Z, out.Objective, out.Residuals = nil, math.Inf(-1), Residuals{Primal: found.residual}
	} else {
		out.X, out.Objective, out.Residuals = nil, math.Inf(1), Residuals{Dual: found.residual}
	}
	out.DualObjective = out.Objective
}

func allFinite(v []float64) bool { return maxAbs(v) <= math.MaxFloat64 }

func addMessage(out *Solution, text string) {
	if out.Message != "" {
		text = out.Message + "; " + text
	}
	out.Message = text
}

// tooNear says what a certificate that misses the tolerance shows all the same.
func (s *checkedSolver) tooNear(out *Solution, what string, found proof) {
	out.Status = Inaccurate
	addMessage(out, fmt.Sprintf(
		"there is no %s within %.1e, but a certificate is asked to reach %.1e times as far: there may be one farther out",
		what, found.radius, found.residual/s.options.EpsInfeasible))
	withoutPoint(out)
}

// reject turns a claim that does not hold into NumericalError.
func reject(out *Solution, why string) {
	out.Status = NumericalError
	addMessage(out, why)
	withoutPoint(out)
}

// withoutPoint marks a solution as having no point: nothing about it is known.
func withoutPoint(out *Solution) {
	nan := math.NaN()
	out.X, out.S, out.Z = nil, nil, nil
	out.Objective, out.DualObjective = nan, nan
	out.Residuals = Residuals{nan, nan, nan}
}

// Solvers ask by the following, while they run, whether a vector is a certificate.

// NearPrimalInfeasible returns what [CheckPrimalInfeasible] finds for z as it is, +Inf where b'z - beta(z) is not
// negative. It panics unless z has length m.
func (j *Judge) NearPrimalInfeasible(z []float64) float64 {
	return residualOf(j.check.primalInfeasible(j.problem(), z, nil))
}

// NearDualInfeasible does the same for x and [CheckDualInfeasible]. It panics unless x has length n.
func (j *Judge) NearDualInfeasible(x []float64) float64 {
	return residualOf(j.check.dualInfeasible(j.problem(), x, nil))
}

func residualOf(found proof, err error) float64 {
	if err != nil {
		return math.Inf(1)
	}
	return found.residual
}

// ProvePrimalInfeasible looks near z for a vector that proves better than z does that no x satisfies the constraints,
// and returns the best one met, in K*, with its residual by [CheckPrimalInfeasible]. It makes A'z zero by the least
// change, relative to the entries of z, and moves z back into K*, in turn, until the residual is at most eps or does
// not fall further. The error says that nothing near z proves anything. It panics unless z has length m.
func (j *Judge) ProvePrimalInfeasible(z []float64, eps float64) (better []float64, residual float64, err error) {
	found, err := j.check.primal(j.problem()).prove(z, eps)
	return found.v, found.residual, err
}

// ProveDualInfeasible does the same for x and [CheckDualInfeasible], by making Px and Ax + s zero, with s in
// the recession cone of K. It panics unless x has length n.
func (j *Judge) ProveDualInfeasible(x []float64, eps float64) (better []float64, residual float64, err error) {
	found, err := j.check.dual(j.problem()).prove(x, eps)
	return found.v, found.residual, err
}
