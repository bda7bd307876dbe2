// Package spread finds factors for rows and columns that bring the numbers of a problem near to one in the mean of
// their logarithms, as Curtis and Reid ("On the automatic scaling of matrices for Gaussian elimination", 1972) do it
// for one matrix.
package spread

import (
	"math"

	"github.com/james-bowman/sparse"
)

// Entries are the logarithms of the absolute values of the nonzeros of a matrix.
type Entries struct {
	Row, Col []int32
	Log      []float64
}

// Grow makes room for more entries.
func Grow(room int) Entries {
	return Entries{make([]int32, 0, room), make([]int32, 0, room), make([]float64, 0, room)}
}

// Add appends an entry.
func (e *Entries) Add(row, col int, log float64) {
	e.Row, e.Col, e.Log = append(e.Row, int32(row)), append(e.Col, int32(col)), append(e.Log, log)
}

// Of returns the entries of a matrix, which may be nil.
func Of(a *sparse.CSC, log func(float64) float64) Entries {
	if a == nil {
		return Entries{}
	}
	raw := a.RawMatrix()
	e := Entries{make([]int32, len(raw.Data)), make([]int32, len(raw.Data)), make([]float64, len(raw.Data))}
	at := 0
	for j := range len(raw.Indptr) - 1 {
		rows, data := raw.Ind[raw.Indptr[j]:raw.Indptr[j+1]], raw.Data[raw.Indptr[j]:raw.Indptr[j+1]]
		for k, v := range data {
			if v != 0 {
				e.Row[at], e.Col[at], e.Log[at] = int32(rows[k]), int32(j), log(math.Abs(v))
				at++
			}
		}
	}
	return Entries{e.Row[:at], e.Col[:at], e.Log[:at]}
}

// Diagonal returns the diagonal entries of a semidefinite matrix, which may be nil. No other entry is larger than both
// of its row and column, and how small it is says nothing of their scale.
func Diagonal(p *sparse.CSC, log func(float64) float64) (e Entries) {
	if p == nil {
		return e
	}
	raw := p.RawMatrix()
	for j := range len(raw.Indptr) - 1 {
		for k := raw.Indptr[j]; k < raw.Indptr[j+1]; k++ {
			if v := raw.Data[k]; raw.Ind[k] == j && v != 0 {
				e.Add(j, j, log(math.Abs(v)))
			}
		}
	}
	return e
}

// Terms are the logarithms of some entries of a vector.
type Terms struct {
	At  []int32
	Log []float64
}

// Add appends the logarithm of entry at.
func (t *Terms) Add(at int, log float64) {
	t.At, t.Log = append(t.At, int32(at)), append(t.Log, log)
}

// System is a problem with the matrices A and P, of which the upper triangle is given, and the vectors q and b. With a,
// p, .. the logarithms, its factors minimise
//
//	sum (a_ij + e_i + d_j)^2 + sum (p_ij + d_i + d_j + c)^2
//	  + sum (q_j + d_j + c)^2 + sum (b_i + e_i + t)^2 + t^2 + ridge (|d|^2 + |e|^2)
//
// over d, e, c and t.
type System struct {
	Rows, Cols int
	A, P       Entries
	Q, B       Terms
	// Blocks visits the rows that share one factor, block by block; nil for none.
	Blocks func(visit func(first, dim int))
	Ridge  float64
}

// Factors are logarithms.
type Factors struct {
	D, E []float64
	C, T float64
}

// Solve minimises over t and c, then e, then d, each with the others fixed, so many times, or until no entry of d
// changes by more than enough. Where P or q take part only half of the step in d is made, since entries of d meet in
// the terms of P.
func (s *System) Solve(sweeps int, enough float64) Factors {
	f := Factors{D: make([]float64, s.Cols), E: make([]float64, s.Rows)}
	g := make([]float64, max(s.Rows, s.Cols)) // sums of terms
	countE, countD := s.counts()
	step := 1.0
	if len(s.P.Log) > 0 || len(s.Q.Log) > 0 {
		step = 0.5
	}
	for range sweeps {
		sum := 0.0
		for k, i := range s.B.At {
			sum += s.B.Log[k] + f.E[i]
		}
		f.T = -sum / float64(len(s.B.At)+1)
		sum = 0
		for k, j := range s.Q.At {
			sum += s.Q.Log[k] + f.D[j]
		}
		for k, v := range s.P.Log {
			sum += v + f.D[s.P.Row[k]] + f.D[s.P.Col[k]]
		}
		f.C = -sum / float64(max(1, len(s.Q.At)+len(s.P.Log)))

		rows := g[:s.Rows]
		clear(rows)
		s.A.addTo(rows, s.A.Row, f.D, s.A.Col)
		for k, i := range s.B.At {
			rows[i] += s.B.Log[k] + f.T
		}
		s.share(rows)
		for i, v := range rows {
			if w := countE[i] + s.Ridge; w > 0 {
				f.E[i] = -v / w
			}
		}

		cols := g[:s.Cols]
		clear(cols)
		s.A.addTo(cols, s.A.Col, f.E, s.A.Row)
		for k, j := range s.Q.At {
			cols[j] += s.Q.Log[k] + f.C
		}
		for k, v := range s.P.Log {
			if i, j := s.P.Row[k], s.P.Col[k]; i == j {
				cols[j] += 2 * (v + f.C)
			} else {
				cols[i] += v + f.C + f.D[j]
				cols[j] += v + f.C + f.D[i]
			}
		}
		largest := 0.0
		for j, v := range cols {
			if w := countD[j] + s.Ridge; w > 0 {
				change := (f.D[j] + v/w) * step
				f.D[j] -= change
				largest = max(largest, math.Abs(change))
			}
		}
		if largest <= enough {
			break
		}
	}
	return f
}

// addTo adds the logarithms and the factors at from to the sums at to.
func (e *Entries) addTo(sum []float64, to []int32, factor []float64, from []int32) {
	to, from = to[:len(e.Log)], from[:len(e.Log)]
	for k, v := range e.Log {
		sum[to[k]] += v + factor[from[k]]
	}
}

// counts returns how many terms there are for the rows and for the columns.
func (s *System) counts() (rows, cols []float64) {
	rows, cols = make([]float64, s.Rows), make([]float64, s.Cols)
	for _, i := range s.A.Row {
		rows[i]++
	}
	for _, j := range s.A.Col {
		cols[j]++
	}
	for _, i := range s.B.At {
		rows[i]++
	}
	s.share(rows)
	for _, j := range s.Q.At {
		cols[j]++
	}
	for k, i := range s.P.Row {
		if j := s.P.Col[k]; i == j {
			cols[j] += 4 // half the second derivative of (p + 2 d_j + c)^2
		} else {
			cols[i]++
			cols[j]++
		}
	}
	return rows, cols
}

// share gives all rows of a block the sum over them.
func (s *System) share(v []float64) {
	if s.Blocks == nil {
		return
	}
	s.Blocks(func(first, dim int) {
		sum := 0.0
		for _, x := range v[first : first+dim] {
			sum += x
		}
		for i := first; i < first+dim; i++ {
			v[i] = sum
		}
	})
}

// RoughLog2 is the logarithm of v > 0 to the base two, right to a tenth: straight lines between the powers of two.
func RoughLog2(v float64) float64 {
	const exponent = 1 << 52
	return float64(math.Float64bits(v))/exponent - 1023
}

// Power is the power of two whose logarithm is nearest to v.
func Power(v float64) float64 { return math.Ldexp(1, int(math.Round(v))) }

// Powers has the factors in the place of their logarithms, rounded to powers of two.
func (f Factors) Powers() Factors {
	for _, v := range [][]float64{f.D, f.E} {
		for i, log := range v {
			v[i] = Power(log)
		}
	}
	f.C, f.T = Power(f.C), Power(f.T)
	return f
}

// Largest raises row and col, which may be one, to the largest absolute entries of the rows and columns of c E A D, for
// diagonals e and d, and returns the largest of all. A may be nil.
func Largest(a *sparse.CSC, c float64, e, d, row, col []float64) (size float64) {
	if a == nil {
		return 0
	}
	raw := a.RawMatrix()
	for j, dj := range d {
		most := 0.0
		rows, data := raw.Ind[raw.Indptr[j]:raw.Indptr[j+1]], raw.Data[raw.Indptr[j]:raw.Indptr[j+1]]
		for k, v := range data {
			i := rows[k]
			if v = math.Abs(v) * c * e[i] * dj; v > row[i] {
				row[i] = v
			}
			if v > most {
				most = v
			}
		}
		col[j], size = max(col[j], most), max(size, most)
	}
	return size
}
