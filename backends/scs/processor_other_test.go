//go:build ((scs && cgo) || scs_go) && !unix

package scs_test

import (
	"testing"
	"time"
)

// processor is not known here.
func processor(*testing.T) time.Duration { return 0 }
