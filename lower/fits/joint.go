package fits

import (
	"github.com/conetune/conetune/lower"
	"github.com/conetune/conetune/lower/sparse"
)

// joint makes a fit a [lower.Joint].
type joint struct{ both *sparse.Joint }

// Shape implements [lower.Valued].
func (j joint) Shape() []int { return j.both.Shape() }

// Values implements [lower.Valued].
func (j joint) Values(x [][]float64) lower.Values { return j.both.Values(x) }

// Joint implements [lower.Joint].
func (j joint) Joint() lower.JointSolver { return j.both.Joint() }

var (
	_ lower.Joint = (*ElasticNetFit)(nil)
	_ lower.Joint = (*Logistic)(nil)
	_ lower.Joint = (*Poisson)(nil)
)
