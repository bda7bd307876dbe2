package pdhg_test

import (
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/backendtest"
	_ "github.com/conetune/conetune/backends/pdhg"
)

func open(t testing.TB) backends.ConicBackend { return backendtest.Open(t, "pdhg") }

func TestConformance(t *testing.T) {
	backendtest.Run(t, open(t), backendtest.Options{MaxIterations: 20_000, NoIterationLog: true, SingleRun: true})
}
