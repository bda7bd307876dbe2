//go:build clarabel && cgo

package licenses

import _ "embed"

//go:embed clarabel.txt
var clarabelText string

func init() { libraries = append(libraries, clarabelText) }
