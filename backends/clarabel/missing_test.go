//go:build !clarabel || !cgo

package clarabel_test

import (
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/clarabel"
)

func TestMissing(t *testing.T) {
	_ = backends.Options{Settings: clarabel.Settings{}} // the type is there all the same
	backendtest.Missing(t, "clarabel")
}
