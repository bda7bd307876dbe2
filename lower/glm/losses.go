package glm

import "math"

// Logistic is log(1 + exp(-y eta)) of labels y of -1 and 1.
type Logistic struct{}

// At implements [Loss], without overflow.
func (Logistic) At(y, eta float64) (value, slope, curve float64) {
	e := math.Exp(-math.Abs(eta))
	p := 1 / (1 + e) // of the likelier label
	value = math.Log(1 + e)
	if y*eta > 0 {
		return value, -y * e * p, e * p * p
	}
	return value + math.Abs(eta), -y * p, e * p * p
}

// Poisson is half the deviance of counts y of the mean exp(eta).
type Poisson struct{}

// At implements [Loss].
func (Poisson) At(y, eta float64) (value, slope, curve float64) {
	mean := math.Exp(eta)
	value = mean - y*eta
	if y > 0 {
		value += y * (math.Log(y) - 1)
	}
	return value, mean - y, mean
}

// Huber is half the square of y - eta up to the threshold, and goes on as a line from there.
type Huber struct{ Threshold float64 }

// At implements [Loss].
func (h Huber) At(y, eta float64) (value, slope, curve float64) {
	switch r, d := eta-y, h.Threshold; {
	case r > d:
		return d * (r - d/2), d, 0
	case r < -d:
		return d * (-r - d/2), -d, 0
	default:
		return r * r / 2, r, 1
	}
}
