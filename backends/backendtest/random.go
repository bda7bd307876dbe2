package backendtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/internal/matrices"
)

// Shape describes random problems of one kind.
type Shape struct {
	Name  string
	N     int // variables
	Cones []backends.Cone
	// Rank is the rank of P; 0 means none.
	Rank int
	// Density is the share of nonzeros of A.
	Density float64
	// Vertex asks for as many binding rows as there are variables, which makes the
	// solution of a linear program unique.
	Vertex bool
}

// Shapes returns the shapes of the random problems of the suite. They are chosen so
// that the optimum is a regular point with probability one: rows that bind have
// independent normals, and no direction is left flat.
func Shapes() []Shape {
	zero, nonneg, soc := backends.Zero, backends.Nonnegative, backends.SecondOrder
	box := func(n int) backends.Cone { return backends.Cone{Kind: backends.BoxCone, Dim: n} }
	many := func(k int, c backends.Cone) []backends.Cone {
		out := make([]backends.Cone, k)
		for i := range out {
			out[i] = c
		}
		return out
	}
	return []Shape{
		{"qp, unconstrained", 6, nil, 6, 1, false},
		{"qp, equations", 12, []backends.Cone{zero(5)}, 12, 0.6, false},
		{"qp, dense", 10, []backends.Cone{zero(2), nonneg(12)}, 10, 1, false},
		{"qp, sparse", 60, []backends.Cone{zero(10), nonneg(60), box(20)}, 60, 0.1, false},
		{"qp, singular P and equations", 12, []backends.Cone{zero(6), nonneg(6)}, 8, 0.8, false},
		{"lp, dense", 12, []backends.Cone{zero(4), nonneg(30)}, 0, 1, true},
		{"lp, sparse", 50, []backends.Cone{zero(15), nonneg(120)}, 0, 0.1, true},
		{"socp, quadratic", 20, []backends.Cone{soc(5), zero(2), soc(1), soc(2), nonneg(4), soc(9)}, 20, 0.7, false},
		{"socp, linear", 12, many(10, soc(4)), 0, 0.9, false},
		{"socp, large cone", 40, []backends.Cone{soc(60), nonneg(10)}, 40, 0.3, false},
		{"psd, quadratic", 12, []backends.Cone{backends.PSD(3), nonneg(3), backends.PSD(4)}, 12, 0.8, false},
		{"exponential, quadratic", 12, []backends.Cone{backends.Exponential(), nonneg(3), backends.Exponential(), backends.DualExponential()}, 12, 0.8, false},
		{"power, quadratic", 12, []backends.Cone{backends.Power(0.3), zero(2), backends.Power(0.8), backends.DualPower(0.45)}, 12, 0.8, false},
		{"generalized power, quadratic", 16, []backends.Cone{
			backends.GeneralizedPower([]float64{0.2, 0.5, 0.3}, 2), nonneg(3), backends.GeneralizedPower([]float64{0.4, 0.6}, 1),
			backends.DualGeneralizedPower([]float64{0.1, 0.2, 0.3, 0.4}, 3),
		}, 16, 0.8, false},
		{"nuclear norm, quadratic", 20, []backends.Cone{backends.NuclearNorm(4, 3), nonneg(3), backends.NuclearNorm(2, 5)}, 20, 0.8, false},
		{"everything", 30, []backends.Cone{zero(3), box(5), soc(4), nonneg(5), backends.PSD(3), backends.Exponential(), backends.Power(0.6), soc(3)}, 30, 0.5, false},
	}
}

// NewCase draws a problem of that shape with a known solution: x, and a complementary
// pair of s and z, are chosen first, and b = Ax + s, q = -Px - A'z follow.
func (sh Shape) NewCase(seed uint64) Case {
	rng := rand.New(rand.NewPCG(seed, 17))
	n := sh.N
	var cones []backends.Cone
	var s, z []float64
	for _, c := range sh.Cones {
		if c.Kind == backends.BoxCone {
			c.Lower, c.Upper = make([]float64, c.Dim), make([]float64, c.Dim)
		}
		cs, cz := complementary(rng, c)
		if sh.Vertex && c.Kind == backends.NonnegativeCone {
			atVertex(rng, cs, cz, n-len(s))
		}
		cones, s, z = append(cones, c), append(s, cs...), append(z, cz...)
	}
	m := len(s)
	p := &backends.Problem{Cones: cones}
	dense := make([][]float64, m)
	for i := range dense {
		dense[i] = make([]float64, n)
		for j := range dense[i] {
			if rng.Float64() < sh.Density {
				dense[i][j] = rng.NormFloat64()
			}
		}
		dense[i][rng.IntN(n)] += 1 + rng.Float64() // no row is empty
	}
	p.A = matrix(n, dense...)
	if sh.Rank > 0 {
		factor := make([][]float64, sh.Rank) // P = F'F / rank, plus I / 10 when of full rank
		for k := range factor {
			factor[k] = normals(rng, n)
		}
		p.P = matrices.Of(n, n, func(i, j int) float64 {
			if i > j {
				return 0
			}
			v := 0.0
			for k := range factor {
				v += factor[k][i] * factor[k][j] / float64(sh.Rank)
			}
			if i == j && sh.Rank == n {
				v += 0.1
			}
			return v
		})
	}
	x := normals(rng, n)
	px := make([]float64, n)
	if p.P != nil {
		p.P.DoNonZero(func(i, j int, v float64) {
			px[i] += v * x[j]
			if i != j {
				px[j] += v * x[i]
			}
		})
	}
	p.B = times(p.A, x, m)
	for i := range p.B {
		p.B[i] += s[i]
	}
	p.Q = make([]float64, n)
	objective := 0.0
	p.A.DoNonZero(func(i, j int, v float64) { p.Q[j] -= v * z[i] })
	for j := range p.Q {
		p.Q[j] -= px[j]
		objective += x[j]*px[j]/2 + p.Q[j]*x[j]
	}
	return Case{
		Name: fmt.Sprintf("%s, seed %d", sh.Name, seed), Reason: "the problem was built from its solution", Problem: p,
		Status: backends.Optimal, X: x, Z: z, Objective: objective,
	}
}

func (s suite) random(t *testing.T) {
	for _, shape := range Shapes() {
		if !s.supports(shape.NewCase(0).Problem) {
			continue
		}
		t.Run(shape.Name, func(t *testing.T) {
			for seed := range uint64(s.options.Seeds) {
				c := shape.NewCase(seed)
				t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { s.check(t, c, s.once(t, c.Problem)) })
				if r := repeated(c); s.supports(r.Problem) {
					t.Run(fmt.Sprintf("seed %d, rows repeated", seed), func(t *testing.T) { s.check(t, r, s.once(t, r.Problem)) })
				}
			}
		})
	}
}

// atVertex binds k random rows.
func atVertex(rng *rand.Rand, s, z []float64, k int) {
	for place, i := range rng.Perm(len(s)) {
		s[i], z[i] = 0, 0
		if place < k {
			z[i] = 0.5 + rng.Float64()
		} else {
			s[i] = 0.5 + rng.Float64()
		}
	}
}

// repeated adds, to every equation and every inequality of c, a copy of the row, and
// the sum of all equations: no multiplier is unique any more, the value stays.
func repeated(c Case) Case {
	p := c.Problem
	n, _ := p.Dims()
	dense := make([][]float64, len(p.B))
	for i := range dense {
		dense[i] = make([]float64, n)
	}
	if p.A != nil {
		p.A.DoNonZero(func(i, j int, v float64) { dense[i][j] = v })
	}
	out := &backends.Problem{P: p.P, Q: p.Q, B: cloneSlice(p.B), Cones: append([]backends.Cone{}, p.Cones...)}
	z := cloneSlice(c.Z)
	sum, total, row := make([]float64, n), 0.0, 0
	for _, k := range p.Cones {
		if k.Kind == backends.ZeroCone || k.Kind == backends.NonnegativeCone {
			for i := row; i < row+k.Dim; i++ {
				dense = append(dense, dense[i])
				out.B, z = append(out.B, p.B[i]), append(z, 0)
				if k.Kind == backends.ZeroCone {
					for j, v := range dense[i] {
						sum[j] += v
					}
					total += p.B[i]
				}
			}
			out.Cones = append(out.Cones, k)
		}
		row += k.Dim
	}
	dense, out.B, z = append(dense, sum), append(out.B, total), append(z, 0)
	out.Cones = append(out.Cones, backends.Zero(1))
	out.A = matrix(n, dense...)
	c.Problem, c.Z, c.Name = out, z, c.Name+", rows repeated"
	return c
}

func normals(rng *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = rng.NormFloat64()
	}
	return out
}

// complementary draws s in the cone and z in its dual with s'z = beta(z), each on
// the boundary of its cone in a strictly complementary way. For a box it also
// fills in the bounds.
func complementary(rng *rand.Rand, c backends.Cone) (s, z []float64) {
	s, z = make([]float64, c.Dim), make([]float64, c.Dim)
	amount := func() float64 { return 0.5 + rng.Float64() }
	switch c.Kind {
	case backends.ZeroCone:
		copy(z, normals(rng, c.Dim))
	case backends.NonnegativeCone:
		for i := range s {
			if rng.IntN(3) == 0 {
				z[i] = amount()
			} else {
				s[i] = amount()
			}
		}
	case backends.BoxCone:
		for i := range s {
			lower, upper := rng.NormFloat64(), 0.0
			upper = lower + amount()
			switch rng.IntN(6) {
			case 0: // at the lower bound
				s[i], z[i] = lower, amount()
				if rng.IntN(2) == 0 {
					upper = inf
				}
			case 1: // at the upper bound
				s[i], z[i] = upper, -amount()
				if rng.IntN(2) == 0 {
					lower = -inf
				}
			case 2: // fixed
				upper = lower
				s[i], z[i] = lower, rng.NormFloat64()
			case 3: // free
				s[i], lower, upper = lower, -inf, inf
			default:
				s[i] = (lower + upper) / 2
			}
			c.Lower[i], c.Upper[i] = lower, upper
		}
	case backends.SecondOrderCone:
		complementarySecondOrder(rng, s, z, amount)
	case backends.PSDCone:
		complementaryPSD(rng, s, z, amount)
	case backends.ExponentialCone:
		complementaryExponential(rng, s, z, amount)
	case backends.DualExponentialCone:
		complementaryExponential(rng, z, s, amount)
	case backends.PowerCone:
		complementaryPower(rng, c.Alpha, s, z, amount)
	case backends.DualPowerCone:
		complementaryPower(rng, c.Alpha, z, s, amount)
	case backends.NuclearNormCone:
		complementaryNuclear(rng, c, s, z, amount)
	case backends.GeneralizedPowerCone:
		complementaryMean(rng, c.Weights, s, z, amount)
	case backends.DualGeneralizedPowerCone:
		complementaryMean(rng, c.Weights, z, s, amount)
	}
	return s, z
}

func complementarySecondOrder(rng *rand.Rand, s, z []float64, amount func() float64) {
	if len(s) == 0 {
		return
	}
	v := normals(rng, len(s))
	norm := 0.0
	for _, x := range v[1:] {
		norm += x * x
	}
	norm = math.Sqrt(norm)
	switch {
	case len(s) == 1 || rng.IntN(4) == 0: // s inside, z = 0
		copy(s, v)
		s[0] = norm + amount()
	default: // s = (|v|, v), z = k (|v|, -v)
		k := amount()
		for i := range s {
			s[i], z[i] = v[i], -k*v[i]
		}
		s[0], z[0] = norm, k*norm
	}
}

// complementaryPSD takes S = Q diag(l, 0) Q' and Z = Q diag(0, g) Q'.
func complementaryPSD(rng *rand.Rand, s, z []float64, amount func() float64) {
	n := backends.PSDOrder(len(s))
	q := orthogonal(rng, n)
	for r := range n {
		out, weight := s, amount()
		if r == 0 { // one direction of Z keeps its multipliers independent
			out = z
		}
		k := 0
		for j := range n {
			for i := j; i < n; i++ {
				v := weight * q.At(i, r) * q.At(j, r)
				if i != j {
					v *= math.Sqrt2
				}
				out[k] += v
				k++
			}
		}
	}
}

// complementaryExponential takes s = (u, v, v exp(u/v)) and the normal of the
// cone there, z = k (-1, u/v - 1, exp(-u/v)).
func complementaryExponential(rng *rand.Rand, s, z []float64, amount func() float64) {
	v, r, k := amount(), rng.Float64()*2-1, amount()
	s[0], s[1], s[2] = r*v, v, v*math.Exp(r)
	z[0], z[1], z[2] = -k, k*(r-1), k*math.Exp(-r)
}

// complementaryPower takes s = (u, v, w) with w = +-u^a v^(1-a), and the normal
// k (a |w|/u, (1-a) |w|/v, -+1).
func complementaryPower(rng *rand.Rand, a float64, s, z []float64, amount func() float64) {
	u, v, k, sign := amount(), amount(), amount(), float64(2*rng.IntN(2)-1)
	w := math.Pow(u, a) * math.Pow(v, 1-a)
	s[0], s[1], s[2] = u, v, sign*w
	z[0], z[1], z[2] = k*a*w/u, k*(1-a)*w/v, -k*sign
}
