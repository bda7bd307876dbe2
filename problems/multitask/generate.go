package multitask

import (
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/problems/dataset"
)

// targetStream keeps what is drawn for the targets apart from what [dataset.Generate] draws by the same seed.
const targetStream = 101

// Generate draws rows with the features of [dataset.Generate], and targets that all use the same features: the
// coefficients in use are 1 for the first target, and 1 plus half a standard normal number for the others. The noise of
// each target is scaled as there. It returns the coefficients B too; test is nil without test rows.
func Generate(c dataset.Config, targets int, seed uint64) (train, val, test *Data, b *mat.Dense, err error) {
	if targets < 1 {
		return nil, nil, nil, nil, fmt.Errorf("multitask: cannot generate %d targets, expected at least 1", targets)
	}
	s, first, err := dataset.Generate(c, seed)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	snr := c.SNR
	if snr == 0 {
		snr = 2
	}
	random := rand.New(rand.NewPCG(seed, targetStream))
	b = mat.NewDense(len(first), targets, nil)
	for j, v := range first {
		for k := range targets {
			if v != 0 {
				b.Set(j, k, v)
				if k > 0 {
					b.Set(j, k, v+random.NormFloat64()/2)
				}
			}
		}
	}
	sets := []*dataset.Data{s.Train, s.Val, s.Test}
	out := make([]*Data, len(sets))
	signal, noise := make([]float64, targets), make([]float64, targets) // squared norms over all rows
	errors := make([]*mat.Dense, len(sets))
	for i, set := range sets {
		if set == nil {
			continue
		}
		n, _ := set.Dims()
		out[i] = &Data{X: set.Dense(), Y: mat.NewDense(n, targets, nil)}
		out[i].Y.Mul(set.X, b)
		errors[i] = mat.NewDense(n, targets, nil)
		errors[i].Apply(func(int, int, float64) float64 { return random.NormFloat64() }, errors[i])
		for k := range targets {
			signal[k] += math.Pow(mat.Norm(out[i].Y.ColView(k), 2), 2)
			noise[k] += math.Pow(mat.Norm(errors[i].ColView(k), 2), 2)
		}
	}
	for i, set := range sets {
		if set == nil {
			continue
		}
		for k := range targets {
			scale := math.Sqrt(signal[k]/noise[k]) / snr
			for r := range set.Y {
				out[i].Y.Set(r, k, out[i].Y.At(r, k)+scale*errors[i].At(r, k))
			}
		}
		for r, y := range set.Y { // the first one is that of the data set
			out[i].Y.Set(r, 0, y)
		}
	}
	return out[0], out[1], out[2], b, nil
}
