package convex

import "slices"

// diagonal builds the pattern of P = 2 sum w_k f_k^2 over the entries of squares.
func (as *assembled) diagonal() {
	touched := make([]bool, as.n)
	for i := range as.prog.squares {
		as.eachSquare(i, func(_, col int, _ float64) {
			if col >= 0 {
				touched[col] = true
			}
		})
	}
	as.pptr = make([]int, as.n+1)
	for j, on := range touched {
		as.pptr[j+1] = as.pptr[j]
		if on {
			as.pptr[j+1]++
			as.pind = append(as.pind, j)
		}
	}
	for i := range as.prog.squares {
		q := &as.prog.squares[i]
		if q.w != nil && !slices.Contains(as.weights, q.w) {
			as.weights = append(as.weights, q.w)
		}
		as.q.dependsOn(q.w)
		for k := range q.arg.pars {
			as.q.dependsOn(q.arg.pars[k].p)
		}
	}
}

// eachSquare calls f for the entries f*x[col] + constant[r] of square i, with
// col = -1 for entries outside the working set.
func (as *assembled) eachSquare(i int, f func(r, col int, factor float64)) {
	arg := &as.prog.squares[i].arg
	for k := range arg.vars {
		t := &arg.vars[k]
		_, inv := as.set(t.v)
		start := as.start[t.v.id]
		for r := range t.rows {
			j := t.entry(r)
			if inv != nil {
				j = inv[j]
			}
			if j >= 0 {
				j += start
			}
			f(t.off+r, j, t.fixed(r))
		}
	}
}

// valueP computes the values of P.
func (as *assembled) valueP(out []float64) {
	clear(out)
	for i := range as.prog.squares {
		w := 2 * as.prog.squares[i].weight()
		as.eachSquare(i, func(_, col int, factor float64) {
			if col >= 0 {
				out[as.pptr[col]] += w * factor * factor
			}
		})
	}
}

// valueQ computes q.
func (as *assembled) valueQ(out []float64) {
	as.q.value(out)
	for i := range as.prog.squares {
		q := &as.prog.squares[i]
		if q.arg.c == nil && len(q.arg.pars) == 0 {
			continue
		}
		w, d := 2*q.weight(), q.arg.constant()
		as.eachSquare(i, func(r, col int, factor float64) {
			if col >= 0 {
				out[col] += w * factor * d[r]
			}
		})
	}
}

// offset is the constant of the objective.
func (p *Program) offset() float64 {
	sum := 0.0
	if p.objective.n > 0 {
		sum = p.objective.constant()[0]
	}
	for i := range p.squares {
		q := &p.squares[i]
		if q.arg.c == nil && len(q.arg.pars) == 0 {
			continue
		}
		w := q.weight()
		for _, d := range q.arg.constant() {
			sum += w * d * d
		}
	}
	return sum
}
