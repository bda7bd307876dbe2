package crew

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
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
	failed := 0
	c := Crew{Failed: func() { failed++ }}
	for range 3 {
		c.Go(func() { panic("bug") })
	}
	c.Settle()
	assert.PanicsWithValue(t, "bug", c.Wait)
	assert.Equal(t, 1, failed)
}
