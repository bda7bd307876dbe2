package tune

import (
	"fmt"
	"strings"

	"github.com/conetune/conetune/dca"
)

// The stages of a run that are no convex programs of VF-iDCA, see [dca.Stage] for those.
const (
	// StageSearch are the points of a search, StageDescent the lower levels along a hypergradient.
	StageSearch  dca.Stage = "search"
	StageDescent dca.Stage = "descent"
	// StageFinal is the training on all rows.
	StageFinal dca.Stage = "final fit"
)

// Place is where a run is, for [Config.Begin].
type Place struct {
	// Method is the name of the method.
	Method string
	// Place is that of VF-iDCA. Other methods fill in the stage, the points that are done and how many there are at most,
	// 0 where nobody knows.
	dca.Place
}

// String says it in a few words.
func (p Place) String() string {
	var b strings.Builder
	switch {
	case p.Stage == StageSearch:
		fmt.Fprintf(&b, "point %d of %d", p.Point, p.Points)
	case p.Stage == StageDescent && p.Points > 0:
		fmt.Fprintf(&b, "fit %d of at most %d", p.Point, p.Points)
	case p.Stage == StageDescent:
		fmt.Fprintf(&b, "fit %d", p.Point)
	case p.Stage == StageFinal:
		b.WriteString(string(p.Stage))
	case p.Points > 0:
		fmt.Fprintf(&b, "start: point %d of %d", p.Point, p.Points)
	case p.Iteration == 0:
		fmt.Fprintf(&b, "start: %s", p.solves())
	default:
		fmt.Fprintf(&b, "iteration %d: %s", p.Iteration, p.solves())
	}
	return b.String()
}

// solves names the program that is solved.
func (p Place) solves() string {
	if p.Stage == dca.StageConstrained {
		return "lower level"
	}
	return string(p.Stage)
}

// begin tells the caller what is done next.
func (t *task) begin(p Place) {
	if t.Config.Begin != nil {
		p.Method = t.tuner.name
		t.Config.Begin(p)
	}
}
