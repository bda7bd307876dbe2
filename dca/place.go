package dca

import (
	"fmt"
	"strings"
)

// The stages of a run: first the convex programs that VF-iDCA and its competitors solve over and over, in the order in
// which they build on each other.
const (
	// StagePenalty is the lower level with weighted penalties, see [Penalized].
	StagePenalty = "penalty form"
	// StageConstrained is the lower level with radii, see [LowerLevel].
	StageConstrained = "constrained form"
	// StageSubproblem is the second program of an iteration.
	StageSubproblem = "subproblem"
	// StageSearch are the points of a search, StageDescent the lower levels along a hypergradient.
	StageSearch  = "search"
	StageDescent = "descent"
	// StageFinal is the training on all rows.
	StageFinal = "final fit"
)

// Place is where a run is: what it solves next.
type Place struct {
	// Method is the name of the method of package tune; empty in [Solve].
	Method string
	Stage  string
	// Iteration counts from 1, up to MaxIter; 0 is the start, and other methods.
	Iteration, MaxIter int
	// Point counts the points among which the start is chosen, from 1, and Points is how many there are, of which some
	// may be passed over; of other methods the points that are done, and how many there are at most, 0 where nobody knows.
	// Both are 0 elsewhere.
	Point, Points int
}

// String says it in a few words.
func (p Place) String() string {
	stage := strings.Replace(p.Stage, StageConstrained, "lower level", 1)
	switch {
	case p.Stage == StageSearch:
		return fmt.Sprintf("point %d of %d", p.Point, p.Points)
	case p.Stage == StageDescent && p.Points > 0:
		return fmt.Sprintf("fit %d of at most %d", p.Point, p.Points)
	case p.Stage == StageDescent:
		return fmt.Sprintf("fit %d", p.Point)
	case p.Stage == StageFinal:
		return stage
	case p.Points > 0:
		return fmt.Sprintf("start: point %d of %d", p.Point, p.Points)
	case p.Iteration == 0:
		return "start: " + stage
	}
	return fmt.Sprintf("iteration %d: %s", p.Iteration, stage)
}

// begin tells the caller what is solved next.
func (r *run) begin(stage string, point, points int) {
	if r.settings.Begin != nil {
		r.settings.Begin(Place{Stage: stage, Iteration: r.at, MaxIter: r.settings.MaxIter, Point: point, Points: points})
	}
}
