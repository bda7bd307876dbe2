package dataset

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// targetStream keeps what is drawn for the targets apart from what [Generate] draws by the same seed.
const targetStream = 101

// GenerateTargets draws rows with the features of [Generate], and targets that all use the same features: the
// coefficients in use are 1 for the first target, and 1 plus half a standard normal number for the others. The noise of
// each target is scaled as there. It returns the coefficients B too.
func GenerateTargets(c Config, targets int, seed uint64) (*Split, *mat.Dense, error) {
	if targets < 1 {
		return nil, nil, fmt.Errorf("dataset: cannot generate %d targets, expected at least 1", targets)
	}
	s, first, err := Generate(c, seed)
	if err != nil {
		return nil, nil, err
	}
	snr := c.withDefaults().SNR
	random := rand.New(rand.NewPCG(seed, targetStream))
	b := mat.NewDense(len(first), targets, nil)
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
	sets := slices.DeleteFunc([]*Data{s.Train, s.Val, s.Test}, func(d *Data) bool { return d == nil })
	signal, noise := make([]float64, targets), make([]float64, targets) // squared norms over all rows
	errors := make([]*mat.Dense, len(sets))
	for i, set := range sets {
		n, _ := set.Dims()
		set.Targets = mat.NewDense(n, targets, nil)
		set.Targets.Mul(set.X, b)
		errors[i] = mat.NewDense(n, targets, nil)
		errors[i].Apply(func(int, int, float64) float64 { return random.NormFloat64() }, errors[i])
		for k := range targets {
			signal[k] += math.Pow(mat.Norm(set.Targets.ColView(k), 2), 2)
			noise[k] += math.Pow(mat.Norm(errors[i].ColView(k), 2), 2)
		}
	}
	for i, set := range sets {
		for k := range targets {
			scale := math.Sqrt(signal[k]/noise[k]) / snr
			for r := range set.Y {
				set.Targets.Set(r, k, set.Targets.At(r, k)+scale*errors[i].At(r, k))
			}
		}
		set.Targets.SetCol(0, set.Y) // the first one is that of the data set
	}
	return s, b, nil
}
