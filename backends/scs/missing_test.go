//go:build (!scs || !cgo) && !scs_go

package scs_test

import (
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/scs"
)

func TestMissing(t *testing.T) {
	_ = backends.Options{Settings: scs.Settings{}} // the type is there all the same
	backendtest.Missing(t, "scs")
}
