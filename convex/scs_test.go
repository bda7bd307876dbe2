//go:build (scs && cgo) || scs_go

package convex_test

import _ "github.com/conetune/conetune/backends/scs"
