package dca

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
