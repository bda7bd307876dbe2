package main

import (
	"bytes"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/conetune/conetune/backends"
)

// solveResult is the outcome of conetune solve as JSON. What does not exist is null.
type solveResult struct {
	Name          string       `json:"name"`
	Backend       string       `json:"backend"`
	Choice        string       `json:"choice,omitempty"` // why it is that one, where there were several
	Status        string       `json:"status"`
	Stopped       string       `json:"stopped"`
	Found         string       `json:"found"`
	Objective     *float64     `json:"objective"`
	DualObjective *float64     `json:"dual_objective"`
	Primal        *float64     `json:"primal_residual"`
	Dual          *float64     `json:"dual_residual"`
	Gap           *float64     `json:"gap"`
	Iterations    int          `json:"iterations"`
	SetupSeconds  float64      `json:"setup_seconds"`
	SolveSeconds  float64      `json:"solve_seconds"`
	X             []float64    `json:"x"`
	Y             []float64    `json:"y"`
	Matrices      [][]float64  `json:"matrices,omitempty"` // the matrix variables of a CBF file, lower triangles by columns
	Certificate   *certificate `json:"certificate,omitempty"`
	Message       string       `json:"message,omitempty"`

	status backends.Status
}

// certificate proves an infeasibility: by multipliers y of the rows and z of the
// bounds that contradict each other, or by a direction x along which the objective has
// no bound. Radius is how far it holds, see [backends.Solution], null where it is exact.
type certificate struct {
	Radius   *float64    `json:"radius"`
	X        []float64   `json:"x,omitempty"`
	Matrices [][]float64 `json:"matrices,omitempty"`
	Y        []float64   `json:"y,omitempty"`
	Z        []float64   `json:"z,omitempty"`
}

func newSolveResult(p *loadedProgram, backend string, s *backends.Solution) *solveResult {
	t := p.built.translate(s)
	r := &solveResult{
		Name: p.name, Backend: backend, Status: s.Status.String(), Stopped: string(s.Stopped), Found: string(s.Found), status: s.Status,
		Iterations: s.Iterations, Message: s.Message,
		Primal: finiteOrNull(s.Residuals.Primal), Dual: finiteOrNull(s.Residuals.Dual), Gap: finiteOrNull(s.Residuals.Gap),
	}
	switch s.Status {
	case backends.PrimalInfeasible:
		r.Primal, r.Gap = nil, nil
		r.Certificate = &certificate{Radius: finiteOrNull(s.Radius), Y: t.y, Z: t.bounds}
	case backends.DualInfeasible:
		r.Dual, r.Gap = nil, nil
		r.Certificate = &certificate{Radius: finiteOrNull(s.Radius), X: t.x, Matrices: t.matrices}
	default:
		r.Objective, r.DualObjective = finiteOrNull(t.objective), finiteOrNull(t.dual)
		r.X, r.Y, r.Matrices = t.x, t.y, t.matrices
	}
	return r
}

// mostValues is how many values of the solution the table shows.
const mostValues = 12

// describeSolve is the table for people; written says that the file of --out is there.
func describeSolve(p *loadedProgram, r *solveResult, f *solveFlags, written bool) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s on the %s backend: %s after %s, %s\n\n", r.Name, r.Backend, solveStatus(r.status), count(r.Iterations, "iteration"), seconds(r.SetupSeconds+r.SolveSeconds))
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprintf(w, "problem\t%s\n", p.describe)
	if r.Choice != "" {
		fmt.Fprintf(w, "backend\t%s, %s\n", r.Backend, r.Choice)
	}
	if p.built != nil {
		fmt.Fprintf(w, "cones\t%s\n", describeCones(p.built.problem.Cones))
	}
	if r.Objective != nil {
		fmt.Fprintf(w, "objective\t%.10g\n", *r.Objective)
	}
	if r.DualObjective != nil {
		fmt.Fprintf(w, "dual objective\t%.10g\n", *r.DualObjective)
	}
	var residuals []string
	for _, part := range []struct {
		name  string
		value *float64
	}{{"primal", r.Primal}, {"dual", r.Dual}, {"gap", r.Gap}} {
		if part.value != nil {
			residuals = append(residuals, fmt.Sprintf("%s %.1e", part.name, *part.value))
		}
	}
	if len(residuals) > 0 {
		what := "residuals"
		if r.Certificate != nil {
			what = "residual of the proof"
		}
		fmt.Fprintf(w, "%s\t%s\n", what, strings.Join(residuals, ", "))
	}
	if r.Certificate != nil {
		fmt.Fprintf(w, "proof\t%s\n", describeRadius(r.status, r.Certificate.Radius))
	}
	fmt.Fprintf(w, "time\tsetup %s, solve %s\n", seconds(r.SetupSeconds), seconds(r.SolveSeconds))
	w.Flush()
	if len(r.X) > 0 {
		fmt.Fprint(&b, "\n"+describeValues(p, r.X))
	}
	if f.out != "" && written {
		fmt.Fprintf(&b, "\nsolution in %s\n", placeOf(f.out))
	}
	return b.String()
}

// describeRadius says what a proof excludes.
func describeRadius(s backends.Status, radius *float64) string {
	points := "x"
	if s == backends.DualInfeasible {
		points = "dual point"
	}
	if radius == nil {
		return fmt.Sprintf("exact: no %s is feasible", points)
	}
	return fmt.Sprintf("no %s with entries up to %.2g is feasible", points, *radius)
}

func describeValues(p *loadedProgram, x []float64) string {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	fmt.Fprint(w, "variable\tvalue\n")
	for j, v := range x[:min(len(x), mostValues)] {
		name := fmt.Sprint(j + 1)
		if p.columns != nil {
			name = p.columns[j]
		}
		fmt.Fprintf(w, "%s\t%.10g\n", name, v)
	}
	w.Flush()
	if rest := len(x) - mostValues; rest > 0 {
		fmt.Fprintf(&b, "and %d more; --json and --out have all\n", rest)
	}
	return b.String()
}

// describeCones counts the cones of each kind and their rows.
func describeCones(cones []backends.Cone) string {
	type sum struct{ cones, rows int }
	var order []backends.ConeKind
	sums := map[backends.ConeKind]*sum{}
	for _, c := range cones {
		if sums[c.Kind] == nil {
			sums[c.Kind] = &sum{}
			order = append(order, c.Kind)
		}
		sums[c.Kind].cones++
		sums[c.Kind].rows += c.Dim
	}
	var list []string
	for _, kind := range order {
		s := sums[kind]
		if kind.Intervals() {
			list = append(list, fmt.Sprintf("%d %s", s.rows, kind))
		} else {
			list = append(list, fmt.Sprintf("%d %s (%s)", s.cones, kind, count(s.rows, "row")))
		}
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// solveStatus puts a status into words.
func solveStatus(s backends.Status) string {
	switch s {
	case backends.PrimalInfeasible:
		return "infeasible, with proof,"
	case backends.DualInfeasible:
		return "unbounded wherever feasible, with proof,"
	case backends.Inaccurate:
		return "not solved to the tolerance"
	case backends.IterationLimit:
		return "stopped by the iteration limit"
	case backends.TimeLimit:
		return "stopped by the time limit"
	case backends.Cancelled:
		return "interrupted"
	case backends.NumericalError:
		return "not solved, numerical error,"
	}
	return s.String()
}
