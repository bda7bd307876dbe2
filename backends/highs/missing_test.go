//go:build !highs || !cgo

package highs_test

import (
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/highs"
)

func TestMissing(t *testing.T) {
	_ = backends.Options{Settings: highs.Settings{}} // the type is there all the same
	backendtest.Missing(t, "highs")
}
