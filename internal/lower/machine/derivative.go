package machine

// Derivatives of a machine in its hyperparameters. Near almost all lambda and bounds the sides of rows and features
// stay as they are. With F the features inside the box, sign_j that of the bound of the others, and K the rows at their
// kinks, the conditions of optimality are
//
//	lambda w_j = sum_i alpha_i a_ij  in F,   w_j = sign_j bound_j  else,   a_i'w - y_i c = 1  in K,
//	sum_i y_i alpha_i = 0,
//
// so that with beta = dalpha / lambda and the symmetric matrix S of the unknowns (beta, dc)
//
//	dw_F = A'beta - w_F dlambda / lambda,   A A'beta - y dc = A w_F dlambda / lambda - A_B dw_B,   y'beta = 0.
//
// Where c is the middle of an interval, no alpha changes, and c goes with the two rows at its ends: y_i c = a_i'w - 1.

// Adjoint returns the derivatives in lambda and in the bounds of a function of W and C with the gradient (w, c), by one
// system for all: with S (pi, kappa) = (A w_F, c), a right side q of the equations above has the value pi'q.
func (g *Problem) Adjoint(m *Solution, w []float64, c float64) (lambda float64, bound []float64) {
	if g.squared {
		return g.squaredAdjoint(m, w, c)
	}
	s, r := m.sides(g), g.rows
	sum := append([]float64(nil), w...) // less A'pi, and with what C adds where it is the middle of an interval
	if m.flat {
		for _, i := range m.ends {
			r.add(i, c*r.y[i]/2, sum)
		}
	} else {
		inside := make([]float64, r.p)
		for j, b := range s.box {
			if b == 0 {
				inside[j] = w[j]
			}
		}
		right, y := make([]float64, len(s.kinks.held)), make([]float64, len(s.kinks.held))
		for k, i := range s.kinks.held {
			right[k], y[k] = r.dot(i, inside), r.y[i]
		}
		// The last row of S is -y'pi = c.
		pi, _, _ := s.kinks.solve(g, right, y, -c)
		for k, i := range s.kinks.held {
			r.add(i, -pi[k], sum)
		}
	}
	bound = make([]float64, r.p)
	for j, b := range s.box {
		if b == 0 {
			lambda -= sum[j] * m.W[j] / m.lambda
		} else {
			bound[j] = float64(b) * sum[j]
		}
	}
	return lambda, bound
}
