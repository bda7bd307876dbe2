package textfile

import (
	"io"
	"math"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

func TestCharge(t *testing.T) {
	s := source(t, "a\n")
	s.SetMemory(5e6)
	require.NoError(t, s.Charge(1, "order", 3e6, "%d found: a matrix", 7))
	require.EqualError(t, s.Charge(2, "order", 3e6, "%d found: a matrix", 8),
		"f:2: order: 8 found: a matrix takes about 6 MB of memory, but the budget is 5 MB (GOMEMLIMIT gives more)")
	require.NoError(t, s.Charge(3, "", 2e6, "the rest"), "what was refused is not counted")
	require.Error(t, s.Charge(3, "", 1, "one more"))
	s.SetMemory(math.MaxInt64)
	require.Error(t, s.Charge(4, "", 1e19, "more than an int can count"))
	require.Error(t, s.Charge(4, "", math.Inf(1), "what overflows"))
}

// The budget is the limit of the Go runtime, where one is set.
func TestDefaultBudget(t *testing.T) {
	old := debug.SetMemoryLimit(3e9)
	defer debug.SetMemoryLimit(old)
	s := source(t, "a\n")
	require.NoError(t, s.Charge(1, "", 2e9, "a table"))
	require.ErrorContains(t, s.Charge(1, "", 2e9, "a table"), "but the budget is 3 GB")
}

// What grows beyond the budget ends at the next line, with room for what was asked until then; and a text
// that is small when it is packed does not take more than the budget either.
func TestGrowthIsBounded(t *testing.T) {
	text := packed(t, strings.Repeat("1\n", 1<<20))
	s := source(t, text)
	s.SetMemory(1 << 20)
	var values []float64
	_, err := s.Line()
	for ; err == nil; _, err = s.Line() {
		values = append(Grow(s, values, 1), 1)
	}
	require.ErrorContains(t, err,
		"f:131073: what was read up to here takes about 1.05 MB of memory, but the budget is 1.05 MB")
	require.Len(t, values, 1<<17+1)

	s = source(t, packed(t, strings.Repeat("x", 1<<22)))
	s.SetMemory(16 << 20)
	_, err = s.Line()
	require.ErrorContains(t, err, "f:1: a line of such a length takes about")
	require.Less(t, cap(s.long), 2<<20)
	s = source(t, packed(t, strings.Repeat("x", 1<<22)))
	s.SetMemory(65 << 20)
	line := must.Of(s.Line())(t)
	require.Len(t, line, 1<<22)
	_, err = s.Line()
	require.Equal(t, io.EOF, err)
}
