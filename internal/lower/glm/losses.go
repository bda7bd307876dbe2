package glm

import (
	"context"
	"math"

	"github.com/conetune/conetune/internal/lower/design"
)

// Loss is a smooth convex loss of one target, which is not negative.
type Loss interface {
	// Rows makes ready what sums of rows of targets y have in common.
	Rows(y []float64) Sums
}

// Sums makes the sum of the losses of some rows, times weights, for one goroutine at a time.
type Sums func(w Counted) func() Coupled

// Counted says with which weights rows count: all of them with 1 where it is zero.
type Counted struct {
	// Weights are those of the rows, nil for ones; rows of weight 0 are left out.
	Weights []float64
	// In are the rows that count, or with Not those that do not; nil for all.
	In  []bool
	Not bool
}

// at is the weight of row i, 0 where it is left out.
func (c *Counted) at(i int) float64 {
	if c.In != nil && c.In[i] == c.Not {
		return 0
	}
	if c.Weights == nil {
		return 1
	}
	return c.Weights[i]
}

// of are the weights of n rows.
func (c Counted) of(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = c.at(i)
	}
	return w
}

// Sum is a sum of losses at the predictions eta of rows. It sets pull to its derivatives, less their signs, and curve
// to the second ones in each row alone.
type Sum func(eta, pull, curve []float64) float64

// Coupled is a sum of losses. Where its second derivatives are not those of the rows alone it has them at the last
// predictions, while the curvatures there are as it has left them: by rows, in entries of a table, and times a vector
// of predictions, which it takes the place of. The latter is nil where it is not known.
type Coupled struct {
	Sum    Sum
	Second func(ctx context.Context, x design.Classes, entries []int, threads int) []float64
	Times  func(v []float64)
}

// alone makes a sum of rows alone, which several goroutines may use.
func alone(sum func(w Counted, eta, pull, curve []float64) float64) Sums {
	return func(w Counted) func() Coupled {
		one := func(eta, pull, curve []float64) float64 { return sum(w, eta, pull, curve) }
		return func() Coupled { return Coupled{Sum: one} }
	}
}

// Logistic is log(1 + exp(-y eta)) of labels y of -1 and 1.
type Logistic struct{}

// mostProduct bounds the product of what rows of weight 1 have one logarithm of.
const mostProduct = 0x1p900

// Rows implements [Loss], without overflow.
func (Logistic) Rows(y []float64) Sums {
	return alone(func(rows Counted, eta, pull, curve []float64) float64 {
		sum, product := 0.0, 1.0
		for i := range y {
			w := rows.at(i)
			if w == 0 {
				pull[i], curve[i] = 0, 0
				continue
			}
			size := math.Abs(eta[i])
			e := math.Exp(-size)
			p := 1 / (1 + e) // of the likelier label
			curve[i] = w * e * p * p
			if y[i]*eta[i] > 0 {
				pull[i] = w * y[i] * e * p
			} else {
				pull[i] = w * y[i] * p
				sum += w * size
			}
			if w != 1 {
				sum += w * math.Log(1+e)
			} else if product *= 1 + e; !(product < mostProduct) {
				sum, product = sum+math.Log(product), 1
			}
		}
		return sum + math.Log(product)
	})
}

// Poisson is half the deviance of counts y of the mean exp(eta).
type Poisson struct{}

// Rows implements [Loss]. A row adds y (exp(d) - 1 - d) for d = eta - log(y), which keeps its digits where means are
// near counts.
func (Poisson) Rows(y []float64) Sums {
	logs := make([]float64, len(y))
	for i, v := range y {
		if v > 0 {
			logs[i] = math.Log(v)
		}
	}
	const near = 0x1p-5 // up to which exp(d) - 1 has too few digits
	return alone(func(rows Counted, eta, pull, curve []float64) float64 {
		sum := 0.0
		for i := range y {
			w := rows.at(i)
			switch d := eta[i] - logs[i]; {
			case w == 0:
				pull[i], curve[i] = 0, 0
			case y[i] == 0:
				mean := w * math.Exp(eta[i])
				sum, pull[i], curve[i] = sum+mean, -mean, mean
			default:
				e, wy := 0.0, w*y[i]
				if math.Abs(d) < near {
					e = math.Expm1(d)
				} else {
					e = math.Exp(d) - 1
				}
				sum, pull[i], curve[i] = sum+wy*(e-d), -wy*e, wy*(1+e)
			}
		}
		return math.Max(sum, 0)
	})
}

// Huber is half the square of y - eta up to the threshold, and goes on as a line from there.
type Huber struct{ Threshold float64 }

// Rows implements [Loss].
func (h Huber) Rows(y []float64) Sums {
	d := h.Threshold
	return alone(func(rows Counted, eta, pull, curve []float64) float64 {
		sum := 0.0
		for i := range y {
			w := rows.at(i)
			if w == 0 {
				pull[i], curve[i] = 0, 0
				continue
			}
			switch r := y[i] - eta[i]; {
			case r > d:
				sum, pull[i], curve[i] = sum+w*d*(r-d/2), w*d, 0
			case r < -d:
				sum, pull[i], curve[i] = sum+w*d*(-r-d/2), -w*d, 0
			default:
				sum, pull[i], curve[i] = sum+w*r*r/2, w*r, w
			}
		}
		return sum
	})
}
