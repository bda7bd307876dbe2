package native_test

import (
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	_ "github.com/conetune/conetune/backends/native"
	"github.com/stretchr/testify/require"
)

func TestConformance(t *testing.T) {
	b, err := backends.Open("native")
	require.NoError(t, err)
	backendtest.Run(t, b, backendtest.Options{Seeds: 40})
}
