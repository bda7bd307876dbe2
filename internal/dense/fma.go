//go:build !(386 || arm || mips || mipsle || mips64 || mips64le || wasm)

package dense

import "math"

// fma is x y + z, rounded once.
func fma(x, y, z float64) float64 { return math.FMA(x, y, z) }
