//go:build (osqp && cgo) || osqp_go

package licenses

import _ "embed"

//go:embed osqp.txt
var osqpText string

func init() { libraries = append(libraries, osqpText) }
