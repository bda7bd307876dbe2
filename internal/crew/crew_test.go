package crew

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCrew(t *testing.T) {
	var c Crew
	var sum atomic.Int64
	for i := range 100 {
		c.Go(func() { sum.Add(int64(i)) })
	}
	c.Wait()
	assert.EqualValues(t, 4950, sum.Load())
}

func TestPanicReachesWhoWaits(t *testing.T) {
	var c Crew
	for range 3 {
		c.Go(func() { panic("bug") })
	}
	assert.PanicsWithValue(t, "bug", c.Wait)
}

// Each calls all once, whatever the workers, and hands on a panic.
func TestEach(t *testing.T) {
	for _, n := range []int{0, 1, 2, 50} {
		for _, workers := range []int{0, 1, 3, 100} {
			calls := make([]int, n)
			Each(n, workers, func(i int) { calls[i]++ })
			for i := range calls {
				require.Equal(t, 1, calls[i])
			}
		}
	}
	require.PanicsWithValue(t, "third", func() {
		Each(8, 2, func(i int) {
			if i == 3 {
				panic("third")
			}
		})
	})
}
