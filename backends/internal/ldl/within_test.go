package ldl

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/stop"
	"github.com/conetune/conetune/internal/stop/stoptest"
)

// TestStopAnywhere ends analysis, factorisation and solve at looks all over, of which there
// is one wherever the code allows. What comes after is as if nothing had been.
func TestStopAnywhere(t *testing.T) {
	for i, shape := range shapes() {
		t.Run(fmt.Sprint(shape), func(t *testing.T) {
			u := quasidefinite(rand.New(rand.NewPCG(1, uint64(i))), shape.n, shape.m, shape.density, shape.dense)
			plain := u.analyzed(t)
			plain.Factorize(u.val, nil, 0, 1e-8)
			b := make([]float64, u.n)
			for i := range b {
				b[i] = float64(i)
			}
			want := slices.Clone(b)
			plain.Solve(want)

			s := stop.Every(1)
			var f *Factor
			steps := func(run func() error) {
				for at := 0; ; at += 1 + at/8 {
					ctx := stoptest.After(at)
					s.Begin(ctx, 0)
					err := run()
					if ctx.Looks() <= at {
						require.NoError(t, err)
						require.Greater(t, at, 1)
						return
					}
					require.ErrorIs(t, err, ErrStopped)
					require.Equal(t, at+1, ctx.Looks())
				}
			}
			steps(func() error {
				var err error
				f, err = AnalyzeWith(u.n, u.ptr, u.ind, u.sign, Options{Stop: s})
				return err
			})
			stopped := func() error {
				if s.Reached(0) {
					return ErrStopped
				}
				return nil
			}
			steps(func() error {
				f.Factorize(u.val, nil, 0, 1e-8)
				return stopped()
			})
			require.Equal(t, plain.val, f.val)
			require.Equal(t, plain.d, f.d)
			got := slices.Clone(b)
			steps(func() error {
				copy(got, b)
				f.Solve(got)
				return stopped()
			})
			require.Equal(t, want, got)
		})
	}
}

// TestMemory asks how much the analysis is going to keep: never less than the factor has in the end
// for its entries, and what is refused ends it.
func TestMemory(t *testing.T) {
	u := quasidefinite(rand.New(rand.NewPCG(1, 1)), 150, 60, 0.02, 30)
	var asked []int64
	f, err := AnalyzeWith(u.n, u.ptr, u.ind, u.sign, Options{Memory: func(lasting, passing int64) error {
		asked = append(asked, lasting, passing)
		return nil
	}})
	require.NoError(t, err)
	require.Len(t, asked, 6)
	require.Greater(t, asked[4], int64(8*f.Nonzeros()))
	require.LessOrEqual(t, asked[2], asked[4], "the bound from the column counts is one from below")
	full := errors.New("full")
	for last := range 3 {
		calls := 0
		_, err := AnalyzeWith(u.n, u.ptr, u.ind, u.sign, Options{Memory: func(int64, int64) error {
			if calls++; calls > last {
				return full
			}
			return nil
		}})
		require.Equal(t, full, err)
		require.Equal(t, last+1, calls)
	}
}
