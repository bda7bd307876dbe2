package dataset

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/internal/indices"
	"github.com/conetune/conetune/internal/libsvm"
)

// Config is the shape of the synthetic data of [Generate]. Entries that are 0 take
// their default.
type Config struct {
	// Train, Val and Test are numbers of rows; Test may be 0.
	Train, Val, Test int
	// Features is the number p of columns.
	Features int
	// Nonzeros is the number of coefficients 1, the others are 0. Default 15, or
	// Features where there are fewer.
	Nonzeros int
	// Independent makes the correlation of neighbouring columns 0 in the place of 0.5.
	Independent bool
	// Coefficients, if not nil, are all coefficients, in the place of Nonzeros at random places.
	Coefficients []float64
	// SNR is |Xb| / |noise| over all rows. Default 2.
	SNR float64
	// Groups is the number of groups of features, and Folds that of folds of the training rows, where there are any.
	Groups, Folds int
}

// maxCells bounds rows times features, so that a slip in a size is an error and
// not the end of the memory: 2^31 numbers, 16 GiB, or what 32 bits can address.
const maxCells int64 = min(1<<31, math.MaxInt/16)

func (c Config) withDefaults() Config {
	c.Nonzeros, c.SNR = cmp.Or(c.Nonzeros, min(15, c.Features)), cmp.Or(c.SNR, 2)
	return c
}

func (c Config) validate() error {
	c = c.withDefaults()
	switch {
	case c.Train < 1 || c.Val < 1 || c.Test < 0:
		return fmt.Errorf(
			"dataset: cannot generate %d training, %d validation and %d test rows, expected at least 1, 1 and 0", c.Train, c.Val,
			c.Test)
	case c.Features < 1:
		return fmt.Errorf("dataset: cannot generate %d features, expected at least 1", c.Features)
	case float64(c.Features)*(float64(c.Train)+float64(c.Val)+float64(c.Test)) > float64(maxCells):
		return fmt.Errorf("dataset: cannot generate %d features for %d training, %d validation and %d test rows, expected "+
			"%d numbers at most", c.Features, c.Train, c.Val, c.Test, maxCells)
	case c.Nonzeros < 1 || c.Nonzeros > c.Features:
		return fmt.Errorf("dataset: cannot generate %d nonzero coefficients, expected 1 to %d", c.Nonzeros, c.Features)
	case c.Coefficients != nil && len(c.Coefficients) != c.Features:
		return fmt.Errorf("dataset: %d coefficients for %d features", len(c.Coefficients), c.Features)
	case !(c.SNR > 0) || math.IsInf(c.SNR, 1):
		return fmt.Errorf("dataset: signal-to-noise ratio %g, expected a positive number", c.SNR)
	}
	return nil
}

// Generate draws the synthetic regression data of the paper's elastic net, which
// serves the weighted lasso too, and returns the coefficients b behind it:
//
//	rows of X independent N(0, S), S_jk = r^|j-k|, with r the correlation
//	b_j = 1 for Nonzeros features at random places, 0 else, or Coefficients
//	y = Xb + e, e normal and scaled so that |Xb| / |e| = SNR over all rows
//
// The rows are the stationary process x_1 = e_1, x_j = r x_(j-1) + sqrt(1-r^2) e_j, so
// that no p x p matrix is formed. The features are called x1, x2, .., the target y.
func Generate(c Config, seed uint64) (*Split, []float64, error) {
	if err := c.validate(); err != nil {
		return nil, nil, err
	}
	c = c.withDefaults()
	p, n := c.Features, c.Train+c.Val+c.Test
	b, support := c.coefficients(seed)
	x := mat.NewDense(n, p, nil)
	normal := rand.New(rand.NewPCG(seed, streamFeatures))
	correlation := 0.5
	if c.Independent {
		correlation = 0
	}
	innovation := math.Sqrt(1 - correlation*correlation)
	signal := make([]float64, n)
	for i := range n {
		row := x.RawRowView(i)
		row[0] = normal.NormFloat64()
		for j := 1; j < p; j++ {
			// The conversions forbid a fused multiply-add: the same bytes on every machine.
			row[j] = float64(correlation*row[j-1]) + float64(innovation*normal.NormFloat64())
		}
		for _, j := range support {
			signal[i] += float64(b[j] * row[j])
		}
	}
	normal = rand.New(rand.NewPCG(seed, streamNoise))
	noise := make([]float64, n)
	for i := range noise {
		noise[i] = normal.NormFloat64()
	}
	scale := norm(signal) / (c.SNR * norm(noise))
	y := make([]float64, n)
	for i := range y {
		y[i] = signal[i] + float64(scale*noise[i])
	}
	features := libsvm.Names(p)
	part := func(from, to int) *Data {
		if from == to {
			return nil
		}
		return &Data{X: x.Slice(from, to, 0, p).(*mat.Dense), Y: y[from:to:to], Features: features, Target: "y"}
	}
	return &Split{Train: part(0, c.Train), Val: part(c.Train, c.Train+c.Val), Test: part(c.Train+c.Val, n)}, b, nil
}

// GenerateFolds draws rows as [Generate] does, and splits those for training into Folds. Labelled, they have the label
// 1 where y = Xb + e is positive and -1 elsewhere, and each fold has its share of both labels. The validation rows of
// the shape are left out. It returns the coefficients b too.
func GenerateFolds(c Config, seed uint64, labelled bool) (*CrossValidation, []float64, error) {
	s, b, err := Generate(c, seed)
	if err != nil {
		return nil, nil, err
	}
	var classes []int
	if labelled {
		s = s.Map(func(y float64) float64 {
			if y > 0 {
				return 1
			}
			return -1
		}).(*Split)
		for _, y := range s.Train.Y {
			classes = append(classes, int(1+y)/2)
		}
	}
	cv, err := CrossValidate(s.Train, c.Folds, seed, classes)
	if err != nil {
		return nil, nil, err
	}
	cv.Test = s.Test
	return cv, b, nil
}

// coefficients returns b and the indices of its nonzeros in increasing order.
func (c Config) coefficients(seed uint64) (b []float64, support []int) {
	if c.Coefficients != nil {
		b = slices.Clone(c.Coefficients)
		return b, indices.Where(b, func(v float64) bool { return v != 0 })
	}
	support = rand.New(rand.NewPCG(seed, streamSupport)).Perm(c.Features)[:c.Nonzeros]
	slices.Sort(support)
	b = make([]float64, c.Features)
	for _, j := range support {
		b[j] = 1
	}
	return b, support
}

// norm is the Euclidean norm, summed without fused multiply-adds.
func norm(v []float64) float64 {
	sum := 0.0
	for _, a := range v {
		sum += float64(a * a)
	}
	return math.Sqrt(sum)
}

// Streams keep apart what is drawn from the same seed for different ends; 1 is that of package split.
const (
	streamSupport = iota + 2
	streamFeatures
	streamNoise
)
