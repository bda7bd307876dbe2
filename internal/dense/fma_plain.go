//go:build 386 || arm || mips || mipsle || mips64 || mips64le || wasm

package dense

// fma is x y + z, rounded twice: these processors, or Go for them, have no instruction for it, and math.FMA would take
// fifty times as long.
func fma(x, y, z float64) float64 { return float64(x*y) + z }
