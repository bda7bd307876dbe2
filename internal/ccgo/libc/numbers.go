//go:build scs_go || osqp_go

package libc

import (
	"math"

	"modernc.org/libc"
)

// Xexp is e to the x.
func Xexp(t *TLS, x float64) float64 { return libc.Xexp(t.TLS, x) }

// Xlog is the natural logarithm.
func Xlog(t *TLS, x float64) float64 { return libc.Xlog(t.TLS, x) }

// Xpow is x to the y.
func Xpow(t *TLS, x, y float64) float64 { return libc.Xpow(t.TLS, x, y) }

// Xsqrt is the square root, correctly rounded as in C.
func Xsqrt(_ *TLS, x float64) float64 { return math.Sqrt(x) }

// Xfabs is the absolute value.
func Xfabs(_ *TLS, x float64) float64 { return math.Abs(x) }

// Xfmod is the exact rest of x / y with the sign of x.
func Xfmod(_ *TLS, x, y float64) float64 { return math.Mod(x, y) }

// Xceil is the least whole number that is not below x.
func Xceil(_ *TLS, x float64) float64 { return math.Ceil(x) }

// Xisfinite is 1 for a finite number.
func Xisfinite(_ *TLS, x float64) int32 { return BoolInt32(!math.IsInf(x, 0) && !math.IsNaN(x)) }

// Xisnan is 1 for no number.
func Xisnan(_ *TLS, x float64) int32 { return BoolInt32(math.IsNaN(x)) }

// Xisless is 1 where x < y.
func Xisless(_ *TLS, x, y float64) int32 { return BoolInt32(x < y) }

// What ccgo writes for the conversions of C between numbers; integers lose their high bits.

func BoolInt32(b bool) int32 {
	if b {
		return 1
	}
	return 0
}

func BoolUint8(b bool) uint8               { return uint8(BoolInt32(b)) }
func Bool(b bool) bool                     { return b }
func Float64FromFloat64(x float64) float64 { return float64(x) }
func Float64FromInt32(n int32) float64     { return float64(n) }
func Float64FromUint64(n uint64) float64   { return float64(n) }
func Int32FromInt32(n int32) int32         { return n }
func Int32FromUint8(n uint8) int32         { return int32(n) }
func Int32FromUint32(n uint32) int32       { return int32(n) }
func Int32FromUint64(n uint64) int32       { return int32(n) }
func Uint8FromInt32(n int32) uint8         { return uint8(n) }
func Uint32FromInt32(n int32) uint32       { return uint32(n) }
func Uint64FromInt32(n int32) uint64       { return uint64(n) }
func Uint64FromInt64(n int64) uint64       { return uint64(n) }
func UintptrFromInt32(n int32) uintptr     { return uintptr(n) }
