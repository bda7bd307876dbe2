package dca

// Stage is one of the convex programs that the method and its competitors solve over and over.
type Stage string

// The stages, in the order in which they build on each other.
const (
	// StagePenalty is the lower level with weighted penalties, see [Penalized].
	StagePenalty Stage = "penalty form"
	// StageConstrained is the lower level with radii, see [LowerLevel].
	StageConstrained Stage = "constrained form"
	// StageSubproblem is the second program of an iteration.
	StageSubproblem Stage = "subproblem"
)

// Place is where a run of [Solve] is: the convex program that it solves next.
type Place struct {
	Stage Stage
	// Iteration counts from 1, up to MaxIter; 0 is the start.
	Iteration, MaxIter int
	// Point counts the points among which the start is chosen, from 1, and Points is how many there are, of which some
	// may be passed over. Both are 0 elsewhere.
	Point, Points int
}

// begin tells the caller what is solved next.
func (r *run) begin(stage Stage, point, points int) {
	if r.settings.Begin != nil {
		r.settings.Begin(Place{Stage: stage, Iteration: r.at, MaxIter: r.settings.MaxIter, Point: point, Points: points})
	}
}
