//go:build (!osqp || !cgo) && !osqp_go

package osqp_test

import (
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/osqp"
)

func TestMissing(t *testing.T) {
	_ = backends.Options{Settings: osqp.Settings{}} // the type is there all the same
	backendtest.Missing(t, "osqp")
}
