//go:build (scs && cgo) || scs_go

package scs_test

import (
	"testing"

	"github.com/conetune/conetune/backends/backendtest"
	"github.com/conetune/conetune/backends/scs"
)

func TestHostile(t *testing.T) { backendtest.Hostile(t, scs.Backend{}, 1000, nil) }

func TestManyIterations(t *testing.T) { backendtest.ManyIterations(t, scs.Backend{}) }

func TestRecovery(t *testing.T) { backendtest.Recovery(t, scs.Backend{}, 30, nil) }
