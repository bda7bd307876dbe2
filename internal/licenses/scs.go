//go:build (scs && cgo) || scs_go

package licenses

import _ "embed"

//go:embed scs.txt
var scsText string

func init() { libraries = append(libraries, scsText) }
