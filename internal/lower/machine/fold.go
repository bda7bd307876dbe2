package machine

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// fold is the machine of one fold in a [Subproblem], with the mean losses over the validation and over the training
// rows, over the number of folds.
type fold struct {
	*hinges
	number            int
	over, under       []float64 // multipliers of w_j - h_j <= t and -w_j - h_j <= t
	overNow, underNow []float64 // with the constraints as they are
	ball, ballNow     float64   // multipliers of |w|^2/2 - r <= t
	boxed             []int8    // which of over and under are positive now: bits 1 and 2
	balled            bool      // whether ball is between its limits now
	half              float64   // |w|^2/2
}

func newFold(g *Problem, number, folds int) *fold {
	n, p, share := g.rows.n, g.rows.p, 1/float64(folds)
	part := [2][]float64{make([]float64, n), make([]float64, n)}
	floats.AddScaled(part[0], share, g.parts.validation)
	floats.AddScaled(part[1], share, g.parts.train)
	f := &fold{hinges: newHinges(g.rows, part), number: number, boxed: make([]int8, p)}
	for _, v := range []*[]float64{&f.over, &f.under, &f.overNow, &f.underNow} {
		*v = make([]float64, p)
	}
	return f
}

// multipliers are those of the bounds and of the ball with the constraints as they are at h and t, for stiffnesses of
// both.
func (f *fold) multipliers(h []float64, t, box, ball, most float64) (sum float64) {
	p := f.rows.p
	for j, w := range f.z[:p] {
		f.boxed[j] = 0
		a := f.over[j] + box*(w-h[1+j]-t)
		b := f.under[j] + box*(-w-h[1+j]-t)
		if a > 0 && a < most {
			f.boxed[j] |= 1
		}
		if b > 0 && b < most {
			f.boxed[j] |= 2
		}
		f.overNow[j], f.underNow[j] = math.Max(0, math.Min(most, a)), math.Max(0, math.Min(most, b))
		sum += f.overNow[j] + f.underNow[j]
	}
	f.half = f.squares()
	f.ballNow = math.Max(0, math.Min(most, f.ball+ball*(f.half-h[0]-t)))
	f.balled = f.ballNow > 0 && f.ballNow < most
	return sum + f.ballNow
}

// squares are |w|^2/2.
func (f *fold) squares() float64 { return floats.Dot(f.z[:f.rows.p], f.z[:f.rows.p]) / 2 }

// sign is the derivative of the bounds of feature j that hold in w_j, and count is their number.
func (f *fold) sign(j int) (sign, count float64) {
	switch f.boxed[j] {
	case 1:
		return 1, 1
	case 2:
		return -1, 1
	case 3:
		return 0, 2
	}
	return 0, 0
}
