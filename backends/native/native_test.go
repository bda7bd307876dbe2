package native_test

import (
	"strings"
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/internal/must"
	"github.com/stretchr/testify/require"
)

func TestConformance(t *testing.T) {
	backendtest.Run(t, backendtest.Open(t, "native"), backendtest.Options{Answers: 0.99})
}

// A solve with a loose tolerance can be tightened: both solves together take no
// more iterations than one, and end at the same point.
func TestSetEpsGoesOn(t *testing.T) {
	for name, p := range backendtest.Suite(backendtest.Open(t, "native")) {
		if !strings.HasSuffix(name, "seed 3") {
			continue
		}
		want := backendtest.Answer(t, opened(t, p))
		s := must.Of(backendtest.Open(t, "native").Setup(p, backends.Options{Eps: 1e-2}))(t)
		first := backendtest.Answer(t, s)
		require.Equal(t, backends.Optimal, first.Status)
		require.NoError(t, s.(backends.Tightener).SetEps(1e-8))
		second := backendtest.Answer(t, s)
		require.Equal(t, backends.Optimal, second.Status)
		require.Equal(t, want.Iterations, first.Iterations+second.Iterations)
		require.Equal(t, want.X, second.X)
	}
}
