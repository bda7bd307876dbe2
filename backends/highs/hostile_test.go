//go:build highs && cgo

package highs_test

import (
	"testing"

	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/highs"
)

func TestHostile(t *testing.T) { backendtest.Hostile(t, highs.Backend{}, 1000, nil) }

func TestManyIterations(t *testing.T) { backendtest.ManyIterations(t, highs.Backend{}) }

func TestRecovery(t *testing.T) { backendtest.Recovery(t, highs.Backend{}, 30, nil) }
