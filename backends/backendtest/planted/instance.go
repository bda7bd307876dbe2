package planted

import (
	"math"
	"slices"

	"github.com/james-bowman/sparse"

	"github.com/conetune/conetune/backends"
)

// Instance is a conic program in the form of package backends, with dense matrices,
// which small programs are easier to change in.
type Instance struct {
	P     []float64 // n x n by rows, symmetric; nil means zero
	Q     []float64
	A     []float64 // m x n by rows
	B     []float64
	Cones []backends.Cone
	// Stored says that zeros of P and A are stored as entries, Whole that the program is solved without presolve.
	Stored, Whole bool
}

// Dims returns the number of variables and of rows.
func (in *Instance) Dims() (n, m int) { return len(in.Q), len(in.B) }

func (in *Instance) clone() *Instance {
	out := &Instance{
		P: slices.Clone(in.P), Q: slices.Clone(in.Q), A: slices.Clone(in.A), B: slices.Clone(in.B),
		Cones: slices.Clone(in.Cones), Stored: in.Stored, Whole: in.Whole,
	}
	for k := range out.Cones {
		out.Cones[k].Lower, out.Cones[k].Upper = slices.Clone(in.Cones[k].Lower), slices.Clone(in.Cones[k].Upper)
	}
	return out
}

// Problem returns the program for a backend. It shares no memory with the instance.
func (in *Instance) Problem() *backends.Problem {
	n, m := in.Dims()
	p := &backends.Problem{Q: slices.Clone(in.Q), B: slices.Clone(in.B), A: in.matrixA()}
	if m == 0 && !in.Stored {
		p.A = nil
	}
	if in.P != nil {
		p.P = compress(n, n, true, in.Stored, in.P)
	}
	p.Cones = in.clone().Cones
	return p
}

func (in *Instance) matrixA() *sparse.CSC {
	n, m := in.Dims()
	return compress(m, n, false, in.Stored, in.A)
}

// compress returns the columns of a dense matrix by rows, or of its upper triangle.
func compress(rows, cols int, triangle, stored bool, dense []float64) *sparse.CSC {
	ptr := make([]int, cols+1)
	ind, data := make([]int, 0, rows*cols), make([]float64, 0, rows*cols)
	for j := range cols {
		last := rows
		if triangle {
			last = j + 1
		}
		for i := range last {
			if v := dense[i*cols+j]; v != 0 || stored {
				ind, data = append(ind, i), append(data, v)
			}
		}
		ptr[j+1] = len(ind)
	}
	return sparse.NewCSC(rows, cols, ptr, ind, data)
}

// quadratic says whether P has an entry.
func (in *Instance) quadratic() bool {
	return slices.ContainsFunc(in.P, func(v float64) bool { return v != 0 })
}

// supported says whether a backend takes the program.
func (in *Instance) supported(c backends.Capabilities) bool {
	for _, k := range in.Cones {
		if k.Dim > 0 && !c.Supports(k.Kind) {
			return false
		}
	}
	return c.Quadratic || !in.quadratic()
}

// timesA returns Ax, timesAT A'z, timesP Px.
func (in *Instance) timesA(x []float64) []float64 {
	n, m := in.Dims()
	out := make([]float64, m)
	for i := range out {
		out[i] = dot(in.A[i*n:(i+1)*n], x)
	}
	return out
}

func (in *Instance) timesAT(z []float64) []float64 {
	n := len(in.Q)
	out := make([]float64, n)
	for i, zi := range z {
		if zi != 0 {
			for j, a := range in.A[i*n : (i+1)*n] {
				out[j] += a * zi
			}
		}
	}
	return out
}

func (in *Instance) timesP(x []float64) []float64 {
	n := len(in.Q)
	out := make([]float64, n)
	if in.P != nil {
		for i := range out {
			out[i] = dot(in.P[i*n:(i+1)*n], x)
		}
	}
	return out
}

// beta is the term of the boxes in the dual objective.
func (in *Instance) beta(z []float64) float64 {
	sum, row := 0.0, 0
	for _, c := range in.Cones {
		if c.Kind == backends.BoxCone {
			for i, v := range z[row : row+c.Dim] {
				if v > 0 {
					sum += c.Lower[i] * v
				} else if v < 0 {
					sum += c.Upper[i] * v
				}
			}
		}
		row += c.Dim
	}
	return sum
}

// dot adds up in twice the precision.
func dot(a, b []float64) float64 {
	var s sum
	for i, v := range a {
		s.addProduct(v, b[i])
	}
	return s.value()
}

// sum is a sum in twice the precision of a double (Ogita, Rump and Oishi, Accurate sum
// and dot product, 2005).
type sum struct{ high, low float64 }

func (s *sum) add(v float64) {
	t := s.high + v
	w := t - s.high
	s.low += (s.high - (t - w)) + (v - w)
	s.high = t
}

func (s *sum) addProduct(a, b float64) {
	p := a * b
	s.add(p)
	s.low += math.FMA(a, b, -p)
}

func (s *sum) value() float64 { return s.high + s.low }

func maxAbs(v []float64) float64 {
	out := 0.0
	for _, x := range v {
		out = max(out, math.Abs(x))
	}
	return out
}

func norm(v []float64) float64 { return math.Sqrt(dot(v, v)) }

func nonzero(v []float64) bool {
	return slices.ContainsFunc(v, func(x float64) bool { return x != 0 })
}
