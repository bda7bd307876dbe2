//go:build unix && osqp && cgo && osqp_go

package osqp

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	golib "github.com/conetune/conetune/internal/ccgo/osqp"
	clib "github.com/conetune/conetune/internal/cgo/osqp"
	mirror "github.com/conetune/conetune/internal/mirror/osqp"
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

// TestMadeGo solves the problems of the suite by C and by the same made Go: where the compiler of C does not fuse
// multiplications with additions, as it does not for x86-64, all numbers are the same.
func TestMadeGo(t *testing.T) {
	problems := backendtest.Suite(backend{})
	for name, p := range problems {
		c, g := with(t, clib.Library{}, p, backends.Options{}), with(t, golib.Library{}, p, backends.Options{})
		assert.Equal(t, c.Status, g.Status, name)
		if runtime.GOARCH != "amd64" {
			continue
		}
		assert.Equal(t, c.Iterations, g.Iterations, name)
		assert.Equal(t, bits(c.X), bits(g.X), name)
		assert.Equal(t, bits(c.Z), bits(g.Z), name)
	}
	t.Log(len(problems), "problems")
	assert.Greater(t, len(problems), 40)
}

func bits(v []float64) []uint64 {
	var out []uint64
	for _, x := range v {
		out = append(out, math.Float64bits(x))
	}
	return out
}

// BenchmarkMadeGo is the time of Go against that of C, set-up and solve, in turns.
func BenchmarkMadeGo(b *testing.B) {
	for _, n := range []int{50, 200, 400} {
		shape := planted.Shape{
			Name: "qp", N: n, Cones: []backends.Cone{backends.Zero(n / 5), backends.Nonnegative(2 * n)}, Rank: n, Density: 0.1,
		}
		p := backendtest.NewCase(shape, 1).Problem
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			o := backends.Options{Eps: 1e-6}
			backendtest.InTurns(b, made(b, clib.Library{}, p, o), made(b, golib.Library{}, p, o))
		})
	}
}
