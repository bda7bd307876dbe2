//go:build clarabel && cgo

package clarabel_test

import (
	"testing"

	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/clarabel"
)

func TestHostile(t *testing.T) { backendtest.Hostile(t, clarabel.Backend{}, 1000, nil) }

func TestManyIterations(t *testing.T) { backendtest.ManyIterations(t, clarabel.Backend{}) }

func TestRecovery(t *testing.T) { backendtest.Recovery(t, clarabel.Backend{}, 30, nil) }
