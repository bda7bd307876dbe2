package dca

import (
	"context"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/lower/bilevel"
	"github.com/conetune/conetune/lower"
)

// sized is a fit of some variables.
type sized struct {
	bilevel.Fit
	n int
}

func (sized) Traits() lower.Traits { return lower.Traits{} }

func (s sized) Shape() []int { return []int{s.n} }

// An answer that misses its tolerance is taken where no conic program can be asked, up to the gap that is accepted of
// those.
func TestVerdict(t *testing.T) {
	ctx := context.Background()
	small, large := &joint{parts: []bilevel.Fit{sized{n: 10}}}, &joint{parts: []bilevel.Fit{sized{n: mostValues + 1}}}
	for _, c := range []struct {
		j             *joint
		found, solved bool
		missed        float64
		want          backends.Status
	}{
		{small, true, true, 1e-9, backends.Optimal},
		{small, true, false, 1e-6, backends.NumericalError},
		{large, true, false, 1e-6, backends.Inaccurate},
		{large, true, false, 2 * accept, backends.NumericalError},
		{large, false, false, 0, backends.NumericalError},
	} {
		require.Equal(t, c.want, c.j.verdict(ctx, c.found, c.solved, c.missed))
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	require.Equal(t, backends.Cancelled, large.verdict(ended, false, false, 0))
}

// Subproblems that come no nearer to their optimum with a larger penalty are not tried once more.
func TestRetries(t *testing.T) {
	small, large, none := &joint{parts: []bilevel.Fit{sized{n: 10}}},
		&joint{parts: []bilevel.Fit{sized{n: mostValues + 1}}}, math.Inf(1)
	require.False(t, (*joint)(nil).retries(0.1, none))
	require.False(t, small.retries(0.1, none))
	for _, c := range []struct {
		gap, before float64
		want        bool
	}{{0.1, none, true}, {none, none, true}, {none, 0.1, true}, {0.05, 0.1, true}, {0.1, 0.1, false}, {2, 0.1, false},
		{math.NaN(), none, true}} {
		require.Equal(t, c.want, large.retries(c.gap, c.before))
	}
}
