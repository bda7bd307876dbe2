package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Small runs keep the collector of the runtime as it is; large ones change it once.
func TestThrift(t *testing.T) {
	var set []int
	s := thrift{set: func(percent int) { set = append(set, percent) }}
	s.look(thriftFrom)
	require.Empty(t, set)
	s.look(thriftFrom + 1)
	s.look(10 * thriftFrom)
	require.Equal(t, []int{thriftPercent}, set)
}
