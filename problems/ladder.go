package problems

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat"
)

// Rung is a step of a ladder from a model of few weights to one with a weight for each coefficient or group, see
// package tune.
type Rung struct {
	Name string
	// Models are the models of the rung, with a weight or two each, given that of the rung below with its weights and
	// its solution at these: the pilots. The first rung has none. Of several models that of least validation error
	// stands for the rung.
	Models func(below Model, lambda []float64, x [][]float64) ([]Model, error)
}

// PilotFloor is the share of the largest pilot in the delta of [Powers] on a rung.
const PilotFloor = 0.01

// AdaptiveRungs are three rungs: a common weight, weights times [Powers] of the sizes in a pilot, by adaptive, with the
// exponent gamma of least validation error among 1/2, 1 and 2, and these once more (Zou, The adaptive lasso and its
// oracle properties, JASA 101, 2006; Candes, Wakin, Boyd, Enhancing sparsity by reweighted l1 minimization, J. Fourier
// Anal. Appl. 14, 2008).
func AdaptiveRungs(common func() (Model, error),
	adaptive func(below Model, gamma float64, lambda []float64, x [][]float64) (Model, error)) []Rung {
	first := func(Model, []float64, [][]float64) ([]Model, error) {
		m, err := common()
		return []Model{m}, err
	}
	above := func(below Model, lambda []float64, x [][]float64) (list []Model, err error) {
		for _, gamma := range []float64{0.5, 1, 2} {
			m, err := adaptive(below, gamma, lambda, x)
			if err != nil {
				return nil, err
			}
			list = append(list, m)
		}
		return list, nil
	}
	return []Rung{{"common", first}, {"adaptive", above}, {"adaptive-twice", above}}
}

// Powers are (size + delta)^-gamma beside that of the largest size, with delta the share floor of it; ones where no
// size is positive.
func Powers(sizes []float64, gamma, floor float64) []float64 {
	out, top := slices.Repeat([]float64{1}, len(sizes)), slices.Max(sizes)
	for u, v := range sizes {
		if top > 0 {
			out[u] = math.Pow((v/top+floor)/(1+floor), -gamma)
		}
	}
	return out
}

// Compare is by how much the losses a of rows are larger than the losses b of the same rows in the mean by weights, nil
// for equal ones, and its standard error, as of n independent rows.
func Compare(a, b, weights []float64, n int) (mean, se float64) {
	difference := floats.SubTo(make([]float64, len(a)), a, b)
	return stat.Mean(difference, weights), StandardError(difference, weights, n)
}
