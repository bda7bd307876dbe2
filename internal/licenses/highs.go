//go:build highs && cgo

package licenses

import _ "embed"

//go:embed highs.txt
var highsText string

func init() { libraries = append(libraries, highsText) }
