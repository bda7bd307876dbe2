package machine

import (
	"context"
	"math"

	"gonum.org/v1/gonum/floats"
)

// walk follows the path; false where it does not come to its end.
func (s *path) walk(ctx context.Context, most int) bool {
	idle := 0
	for {
		if ctx.Err() != nil || !s.direction() {
			return false
		}
		t, what, where, to := s.next()
		s.advance(t)
		if what == pathEnds {
			return true
		}
		if idle++; t > 0 {
			idle = 0
		}
		s.exchanges++
		s.sinceFactor++
		if s.exchanges > most || idle > mostIdle {
			return false
		}
		ok := true
		switch what {
		case rowLeaves: // number where of the rows at their kinks
			i := s.kinks.held[where]
			s.side[i], s.alpha[i] = to, 0
			if to > 0 {
				s.alpha[i] = s.g.rows.u[i]
			}
			s.kinks.release(where)
			if t == 0 && s.left > 0 { // its right side moves, so that it cannot come back without a step
				s.shift[i] = (s.margin(i) - float64(to)*distance(i, leastTied)) / s.left
				s.measure(i, distance(i, leastTied))
			} else {
				s.measure(i, 0)
			}
		case rowEnters:
			s.side[where] = 0
			ok = s.kinks.hold(s.g, s.box, where)
		case featureBinds:
			s.box[where], s.push[where] = to, 0
			ok = s.kinks.feature(s.g, where, -1)
		case featureFrees:
			s.box[where], s.push[where] = 0, 0
			ok = s.kinks.feature(s.g, where, 1)
		}
		if !ok {
			s.factor()
		}
	}
}

// direction computes the rates on the path, for its whole length being 1. With beta = dalpha / lambda they solve
//
//	dw_j = sum_i beta_i a_ij - pull_j         inside the box,      dw_j = -(sign of the bound) widen_j at it,
//	a_i'dw - y_i dc = shift_i                 at the kinks,        sum_i y_i beta_i = -imbalance / lambda.
func (s *path) direction() bool {
	rows, held := s.g.rows, s.kinks.held
	for j, b := range s.box {
		if b == 0 {
			s.dw[j] = -s.pull[j]
		} else {
			s.dw[j] = -float64(b) * s.widen[j]
		}
	}
	s.right, s.ones = s.right[:0], s.ones[:0]
	for _, i := range held {
		s.right = append(s.right, s.shift[i]-rows.dot(i, s.dw))
		s.ones = append(s.ones, rows.y[i])
	}
	beta, dc, ok := s.kinks.solve(s.g, s.right, s.ones, -s.imbalance/s.lambda)
	if !ok {
		return false
	}
	s.dalpha, s.dc = beta, dc
	clear(s.v)
	for k, i := range held {
		rows.add(i, beta[k], s.v)
	}
	for j, b := range s.box {
		if b == 0 {
			s.dw[j] += s.v[j]
			s.dpush[j] = 0
		} else {
			s.dpush[j] = s.v[j] - s.dw[j] - s.pull[j]
		}
	}
	s.speed = floats.Norm(s.dw, 2)
	return true
}

// event is what ends a step.
type event int8

const (
	pathEnds     event = iota // the path ends
	rowLeaves                 // an alpha reaches a bound
	rowEnters                 // a row reaches its kink
	featureBinds              // a feature reaches the box
	featureFrees              // a feature comes inside
)

// next returns how far the step goes, and what ends it.
func (s *path) next() (step float64, what event, where int, to int8) {
	step = s.left
	meet := func(distance, rate float64, e event, at int, side int8) {
		if t := math.Max(0, distance/rate); t < step {
			step, what, where, to = t, e, at, side
		}
	}
	// One row stays at its kink, which is what c is known by.
	least := roundedRate * floats.Norm(s.dalpha, 2)
	for k, i := range s.kinks.held {
		d, u := s.dalpha[k], s.g.rows.u[i]
		if len(s.dalpha) == 1 || math.Abs(d)*s.lambda*s.left <= rounding*u {
			continue
		}
		switch {
		case d < -least:
			meet(s.alpha[i], -d*s.lambda, rowLeaves, k, -1)
		case d > least:
			meet(u-s.alpha[i], d*s.lambda, rowLeaves, k, 1)
		}
	}
	least = roundedRate * math.Max(s.speed, floats.Norm(s.dpush, 2))
	for j, b := range s.box {
		if b != 0 {
			if d := -s.dpush[j] * float64(b); d > least && s.push[j]*float64(b) < d*step {
				meet(s.push[j]*float64(b), d, featureFrees, j, 0)
			}
			continue
		}
		// The bounds come in at the rate widen.
		width := s.bound[j] + s.left*s.widen[j]
		if d := s.widen[j] + s.dw[j]; d > least && width-s.w[j] < d*step {
			meet(width-s.w[j], d, featureBinds, j, 1)
		}
		if d := s.widen[j] - s.dw[j]; d > least && width+s.w[j] < d*step {
			meet(width+s.w[j], d, featureBinds, j, -1)
		}
	}
	// A row is not looked at where its value, when it was last computed, is larger than a bound of the way since then and
	// on this step.
	noise := roundedRate * (math.Abs(s.dc) + s.g.tau*floats.Norm(s.dalpha, 2))
	rows, wayW, wayC, way := s.g.rows, s.wayW+step*s.speed, s.wayC+step*math.Abs(s.dc), 1-s.left+step
	for i, side := range s.side {
		if side == 0 || rows.size[i]*wayW+wayC+math.Abs(s.shift[i])*way < s.reach[i] {
			continue
		}
		at, rate := rows.dots(i, s.w, s.dw)
		v := rows.need[i] - at + rows.y[i]*s.c - s.left*s.shift[i]
		s.measure(i, v)
		d := rate - rows.y[i]*s.dc - s.shift[i]
		if side < 0 {
			v, d = -v, -d
		}
		if d > noise+roundedRate*rows.size[i]*s.speed && v < d*step {
			meet(v, d, rowEnters, i, 0)
			wayW, wayC, way = s.wayW+step*s.speed, s.wayC+step*math.Abs(s.dc), 1-s.left+step
		}
	}
	return step, what, where, to
}

// advance takes a step of length t.
func (s *path) advance(t float64) {
	if t == 0 {
		return
	}
	for k, i := range s.kinks.held {
		u := s.g.rows.u[i]
		s.alpha[i] = math.Max(0, math.Min(u, s.alpha[i]+t*s.lambda*s.dalpha[k]))
	}
	if s.left -= t; t >= s.left+t {
		s.left = 0
	}
	for j, d := range s.dw {
		s.w[j] += t * d
		s.push[j] += t * s.dpush[j]
	}
	s.c += t * s.dc
	s.wayW += t * s.speed
	s.wayC += t * math.Abs(s.dc)
}
