package solve

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/internal/words"
)

// solveResult is the outcome of conetune solve as JSON. What does not exist is null.
type solveResult struct {
	Name          string    `json:"name"`
	Backend       string    `json:"backend"`
	Choice        string    `json:"choice,omitempty"` // why it is that one, where there were several
	Status        string    `json:"status"`
	Objective     *float64  `json:"objective"`
	DualObjective *float64  `json:"dual_objective"`
	Primal        *float64  `json:"primal_residual"`
	Dual          *float64  `json:"dual_residual"`
	Gap           *float64  `json:"gap"`
	Iterations    int       `json:"iterations"`
	SetupSeconds  float64   `json:"setup_seconds"`
	SolveSeconds  float64   `json:"solve_seconds"`
	X             []float64 `json:"x"`
	Y             []float64 `json:"y"`
	// the matrix variables of a CBF file, lower triangles by columns
	Matrices    [][]float64  `json:"matrices,omitempty"`
	Certificate *certificate `json:"certificate,omitempty"`
	Message     string       `json:"message,omitempty"`

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
	t := p.built.Solution(s)
	r := &solveResult{
		Name: p.name, Backend: backend, Status: s.Status.String(), status: s.Status,
		Iterations: s.Iterations, Message: s.Message,
		Primal: words.FiniteOrNull(s.Residuals.Primal), Dual: words.FiniteOrNull(s.Residuals.Dual),
		Gap: words.FiniteOrNull(s.Residuals.Gap),
	}
	switch s.Status {
	case backends.PrimalInfeasible:
		r.Primal, r.Gap = nil, nil
		r.Certificate = &certificate{Radius: words.FiniteOrNull(s.Radius), Y: t.Y, Z: t.Z}
	case backends.DualInfeasible:
		r.Dual, r.Gap = nil, nil
		r.Certificate = &certificate{Radius: words.FiniteOrNull(s.Radius), X: t.X, Matrices: t.Matrices}
	default:
		r.Objective, r.DualObjective = words.FiniteOrNull(t.Objective), words.FiniteOrNull(t.DualObjective)
		r.X, r.Y, r.Matrices = t.X, t.Y, t.Matrices
	}
	return r
}

// mostValues is how many values of the solution the table shows.
const mostValues = 12

// describeSolve is the table for people; written says that the file of --out is there.
func describeSolve(p *loadedProgram, r *solveResult, f *solveFlags, written bool) string {
	head := fmt.Sprintf("%s on the %s backend: %s after %s, %s\n\n", r.Name, r.Backend, solveStatus(r.status),
		words.Count(r.Iterations, "iteration"), words.Seconds(r.SetupSeconds+r.SolveSeconds))
	t := webpage.NewTable("", "", webpage.Text(""), webpage.Text(""))
	t.AddTexts("problem", p.describe)
	if r.Choice != "" {
		t.AddTexts("backend", r.Backend+", "+r.Choice)
	}
	if p.built != nil {
		t.AddTexts("cones", describeCones(p.built.Problem.Cones))
	}
	if r.Objective != nil {
		t.AddTexts("objective", words.Significant(*r.Objective, 10))
	}
	if r.DualObjective != nil {
		t.AddTexts("dual objective", words.Significant(*r.DualObjective, 10))
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
	what := "residuals"
	if r.Certificate != nil {
		what = "residual of the proof"
	}
	if residuals != nil {
		t.AddTexts(what, words.Joined(residuals))
	}
	if r.Certificate != nil {
		t.AddTexts("proof", describeRadius(r.status, r.Certificate.Radius))
	}
	t.AddTexts("time", "setup "+words.Seconds(r.SetupSeconds)+", solve "+words.Seconds(r.SolveSeconds))
	text := head + t.String()
	if len(r.X) > 0 {
		text += "\n" + describeValues(p, r.X)
	}
	if f.out != "" && written {
		text += "\nsolution in " + cli.PlaceOf(f.out) + "\n"
	}
	return text
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
	t := webpage.NewTable("", "", webpage.Text("variable"), webpage.Text("value"))
	for j, v := range x[:min(len(x), mostValues)] {
		name := fmt.Sprint(j + 1)
		if p.columns != nil {
			name = p.columns[j]
		}
		t.AddTexts(name, words.Significant(v, 10))
	}
	return t.String() + words.Rest(len(x)-mostValues, "and %d more; --json and --out have all\n")
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
			list = append(list, fmt.Sprintf("%d %s (%s)", s.cones, kind, words.Count(s.rows, "row")))
		}
	}
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// statuses are those that are not as people say them.
var statuses = map[backends.Status]string{
	backends.PrimalInfeasible: "infeasible, with proof,",
	backends.DualInfeasible:   "unbounded wherever feasible, with proof,",
	backends.Inaccurate:       "not solved to the tolerance",
	backends.IterationLimit:   "stopped by the iteration limit",
	backends.TimeLimit:        "stopped by the time limit",
	backends.Cancelled:        "interrupted",
	backends.NumericalError:   "not solved, numerical error,",
}

// solveStatus puts a status into words.
func solveStatus(s backends.Status) string { return cmp.Or(statuses[s], s.String()) }
