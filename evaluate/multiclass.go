package evaluate

import (
	"math"

	"gonum.org/v1/gonum/floats"
)

// Classes are the measures of a classifier of several classes, whose Y are their numbers: the share of wrong classes
// and the log loss, the mean of minus the logarithm of the probability of what came true. probability are those that
// were predicted for each row, base those without any feature.
func (s *Sample) Classes(probability, base [][]float64) []Metric {
	wrong := func(p [][]float64) []float64 {
		return s.each(func(i int) float64 { return indicator(floats.MaxIdx(p[i]) != int(s.Y[i])) })
	}
	loss := func(p [][]float64) []float64 {
		return s.each(func(i int) float64 { return -math.Log(p[i][int(s.Y[i])]) })
	}
	return []Metric{s.mean(ErrorRate, of(wrong(probability)), wrong(base)), s.mean(LogLoss, of(loss(probability)), loss(base))}
}

// Softmax are the probabilities that go with the exponentials of some values.
func Softmax(values []float64) []float64 {
	out, total := make([]float64, len(values)), floats.LogSumExp(values)
	for k, v := range values {
		out[k] = math.Exp(v - total)
	}
	return out
}

// of are losses that are known.
func of(losses []float64) func([]float64) []float64 {
	return func([]float64) []float64 { return losses }
}
