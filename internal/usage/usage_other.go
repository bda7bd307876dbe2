//go:build !unix

package usage

import "os"

// Processor and Peak are not known here.
func Processor() float64            { return 0 }
func Peak(*os.ProcessState) float64 { return 0 }
