package compile

import "slices"

// diagonal builds the pattern of P = 2 sum w_k f_k^2 over the entries of squares.
func (as *Assembled) diagonal() {
	touched := make([]bool, as.N)
	for i := range as.Program.Squares {
		as.EachSquare(i, func(_, col int, _ float64) {
			if col >= 0 {
				touched[col] = true
			}
		})
	}
	as.PPtr = make([]int, as.N+1)
	for j, on := range touched {
		as.PPtr[j+1] = as.PPtr[j]
		if on {
			as.PPtr[j+1]++
			as.PInd = append(as.PInd, j)
		}
	}
	for _, q := range as.Program.Squares {
		if q.W != nil && !slices.Contains(as.weights, q.W) {
			as.weights = append(as.weights, q.W)
		}
		as.q.dependsOn(q.W)
		for k := range q.Arg.Pars {
			as.q.dependsOn(q.Arg.Pars[k].P)
		}
	}
}

// EachSquare calls f for the entries f*x[col] + constant[r] of square i, with col = -1 for entries outside the working set.
func (as *Assembled) EachSquare(i int, f func(r, col int, factor float64)) {
	arg := &as.Program.Squares[i].Arg
	for _, t := range arg.Vars {
		at := as.columns(t.V)
		for r := range t.Rows {
			f(t.Off+r, at.column(t.Entry(r)), t.Fixed(r))
		}
	}
}

// valueP computes the values of P.
func (as *Assembled) valueP(out []float64) {
	clear(out)
	for i := range as.Program.Squares {
		w := 2 * as.Program.Squares[i].Weight()
		as.EachSquare(i, func(_, col int, factor float64) {
			if col >= 0 {
				out[as.PPtr[col]] += w * factor * factor
			}
		})
	}
}

// ValueQ computes q.
func (as *Assembled) ValueQ(out []float64) {
	as.q.Value(out)
	for i, q := range as.Program.Squares {
		if q.Arg.C == nil && len(q.Arg.Pars) == 0 {
			continue
		}
		w, d := 2*q.Weight(), q.Arg.Constant()
		as.EachSquare(i, func(r, col int, factor float64) {
			if col >= 0 {
				out[col] += w * factor * d[r]
			}
		})
	}
}

// Offset is the constant of the objective.
func (p *Program) Offset() float64 {
	sum := 0.0
	if p.Objective.N > 0 {
		sum = p.Objective.Constant()[0]
	}
	for _, q := range p.Squares {
		if q.Arg.C == nil && len(q.Arg.Pars) == 0 {
			continue
		}
		w := q.Weight()
		for _, d := range q.Arg.Constant() {
			sum += w * d * d
		}
	}
	return sum
}
