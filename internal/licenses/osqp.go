//go:build osqp && cgo

package licenses

import _ "embed"

//go:embed osqp.txt
var osqpText string

func init() { libraries = append(libraries, osqpText) }
