//go:build unix && scs && cgo && scs_go

package scs

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	golib "github.com/conetune/conetune/internal/ccgo/scs"
	clib "github.com/conetune/conetune/internal/cgo/scs"
	mirror "github.com/conetune/conetune/internal/mirror/scs"
	"github.com/conetune/conetune/internal/planted"
)

// with solves by a library.
func with(t testing.TB, l mirror.Library, p *backends.Problem, o backends.Options) *backends.Solution {
	old := library
	defer func() { library = old }()
	library = l
	return backendtest.Solve(t, backends.Checked(backend{}), p, o)
}

// made is the way to solve by a library.
func made(b testing.TB, l mirror.Library, p *backends.Problem, o backends.Options) func() int {
	return func() int { return with(b, l, p, o).Iterations }
}

// TestMadeGo solves the problems of the suite by C and by the same made Go. Their BLAS differ, OpenBLAS and gonum,
// which add up in another order: the numbers differ in their last digits, and so do the iterations of some problems.
func TestMadeGo(t *testing.T) {
	problems := backendtest.Suite(backend{})
	same := 0
	for _, name := range slices.Sorted(maps.Keys(problems)) {
		p := problems[name]
		o := backends.Options{Eps: 1e-7, Settings: Settings{Retries: -1}}
		c, g := with(t, clib.Library{}, p, o), with(t, golib.Library{}, p, o)
		if c.Iterations == g.Iterations {
			same++
		} else {
			t.Logf("%s: %d iterations in C, %d in Go", name, c.Iterations, g.Iterations)
		}
		assert.Equal(t, c.Status, g.Status, name)
		if c.Status == backends.Optimal {
			assert.InDelta(t, c.Objective, g.Objective, 1e-5*max(1, math.Abs(c.Objective)), name)
		}
	}
	t.Logf("%d problems, %d with the same iterations", len(problems), same)
	assert.Greater(t, len(problems), 100)
	assert.Greater(t, 10*same, 9*len(problems))
}

// BenchmarkMadeGo is the time of Go against that of C, set-up and solve, in turns, on problems whose iterations are the
// same.
func BenchmarkMadeGo(b *testing.B) {
	for _, shape := range []planted.Shape{
		{Name: "qp", N: 200, Cones: []backends.Cone{backends.Zero(40), backends.Nonnegative(400)}, Rank: 200, Density: 0.1},
		{Name: "socp", N: 200, Cones: []backends.Cone{backends.Zero(40), backends.SecondOrder(200),
			backends.SecondOrder(200)}, Rank: 200, Density: 0.1},
		{Name: "exponential", N: 60, Cones: slices.Repeat([]backends.Cone{backends.Exponential()}, 60), Rank: 60,
			Density: 0.1},
		{Name: "psd20", N: 60, Cones: slices.Repeat([]backends.Cone{backends.PSD(20)}, 3), Rank: 60, Density: 0.1},
		{Name: "psd60", N: 60, Cones: []backends.Cone{backends.PSD(60)}, Rank: 60, Density: 0.1},
		{Name: "nuclear", N: 60, Cones: []backends.Cone{backends.NuclearNorm(30, 20)}, Rank: 60, Density: 0.1},
	} {
		p := backendtest.NewCase(shape, 1).Problem
		b.Run(shape.Name, func(b *testing.B) {
			o := backends.Options{Eps: 1e-5, Settings: Settings{Retries: -1}}
			backendtest.InTurns(b, made(b, clib.Library{}, p, o), made(b, golib.Library{}, p, o))
		})
	}
}
