//go:build scs && cgo

package convex_test

import _ "github.com/conetune/conetune/backends/scs"
