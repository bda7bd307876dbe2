package machine

import (
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/conetune/conetune/internal/lower/design"
)

// fold is the machine of one fold in a [Subproblem], with the mean losses over the validation and over the training
// rows, over the number of folds.
type fold struct {
	*hinges
	number            int
	over, under       []float64 // multipliers of w_j - h_j <= t and -w_j - h_j <= t
	overNow, underNow []float64 // with the constraints as they are
	ball, ballNow     float64   // multipliers of |w|^2/2 - r <= t
	// the stiffnesses of over, under and ball where they are between their limits now, else 0
	stiff  [2][]float64
	balled float64
	half   float64 // |w|^2/2
}

// Stack has the rows of a fold of a [Subproblem], first Train training rows and then validation rows, of labels -1 and
// 1 and positive weights. Each part has one row at least; its weights are divided by their sum.
type Stack struct {
	X          *design.Matrix
	Y, Weights []float64
	Train      int
}

func newFold(d *Stack, number, folds int) *fold {
	n, p := d.X.Dims()
	var part [2][]float64
	for k, rows := range [2][2]int{{d.Train, n}, {0, d.Train}} {
		part[k] = make([]float64, n)
		u, weights := part[k][rows[0]:rows[1]], d.Weights[rows[0]:rows[1]]
		floats.ScaleTo(u, 1/floats.Sum(weights), weights)
		floats.Scale(1/float64(folds), u)
	}
	f := &fold{hinges: newHinges(newSignedRows(d.X, d.Y, nil), part), number: number}
	for _, v := range []*[]float64{&f.over, &f.under, &f.overNow, &f.underNow, &f.stiff[0], &f.stiff[1]} {
		*v = make([]float64, p)
	}
	return f
}

// multipliers are those of the bounds and of the ball with the constraints as they are at h and t, for stiffnesses of
// both, with what [hinges.classify] says.
func (f *fold) multipliers(h []float64, t, box, ball, most float64) (sum float64) {
	now := func(stiff, m, g float64, was float64) (multiplier, stiffNow float64) {
		if m += stiff * g; m > 0 && m < most {
			stiffNow = stiff
		}
		f.same = f.same && (was > 0) == (stiffNow > 0)
		return math.Max(0, math.Min(most, m)), stiffNow
	}
	for j, w := range f.z[:f.rows.p] {
		f.overNow[j], f.stiff[0][j] = now(box, f.over[j], w-h[1+j]-t, f.stiff[0][j])
		f.underNow[j], f.stiff[1][j] = now(box, f.under[j], -w-h[1+j]-t, f.stiff[1][j])
		a, b := f.overNow[j]-f.over[j], f.underNow[j]-f.under[j]
		f.apart[0] += (a*a + b*b) / (2 * box)
		sum += f.overNow[j] + f.underNow[j]
	}
	f.half = f.squares()
	f.ballNow, f.balled = now(ball, f.ball, f.half-h[0]-t, f.balled)
	f.apart[0] += (f.ballNow - f.ball) * (f.ballNow - f.ball) / (2 * ball)
	return sum + f.ballNow
}

// squares are |w|^2/2.
func (f *fold) squares() float64 { return floats.Dot(f.z[:f.rows.p], f.z[:f.rows.p]) / 2 }

// held are the difference and the sum of the stiffnesses of the bounds of feature j.
func (f *fold) held(j int) (lean, sum float64) {
	return f.stiff[0][j] - f.stiff[1][j], f.stiff[0][j] + f.stiff[1][j]
}
