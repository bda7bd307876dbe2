package textfile

import (
	"math"
	"math/bits"
	"strconv"
	"unsafe"
)

// Decimal reads the number in plain decimal notation that the text starts with, rounded to the nearest float64 (ties to
// the even one), and returns its length in bytes. The length is 0 where the text starts with no such number or with one
// beyond the range of a double. What follows the number may be anything but a further digit.
func Decimal(text []byte) (value float64, length int) {
	i, negative := 0, false
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		i, negative = 1, text[0] == '-'
	}
	first := i
	var m uint64 // the digits as an integer, modulo 2^64
	for i < len(text) && text[i]-'0' <= 9 {
		m = 10*m + uint64(text[i]-'0')
		i++
	}
	count, e := i-first, 0
	if i < len(text) && text[i] == '.' {
		i++
		start := i
		for i < len(text) && text[i]-'0' <= 9 {
			m = 10*m + uint64(text[i]-'0')
			i++
		}
		e = start - i
		count -= e
	}
	if count == 0 {
		return 0, 0
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		power, end := exponent(text, i+1)
		if end == 0 {
			return 0, 0
		}
		e += power
		i = end
	}
	var v float64
	switch {
	case count <= 19 && m < 1<<53 && -len(pow10) < e && e < len(pow10):
		v = float64(m) // as the power of ten a float64, so that there is one rounding
		if e < 0 {
			v /= pow10[-e]
		} else {
			v *= pow10[e]
		}
	case count <= 19 && -19 <= e && e < 0:
		v = quotient(m, uint64(pow10[-e]))
	default:
		v, err := strconv.ParseFloat(unsafe.String(&text[0], i), 64) // which keeps nothing of the text
		if err != nil {
			return 0, 0
		}
		return v, i
	}
	if negative {
		v = -v
	}
	return v, i
}

// quotient is a/b, of positive numbers, rounded to the nearest float64, ties to the even one.
func quotient(a, b uint64) float64 {
	i, j := bits.LeadingZeros64(a), bits.LeadingZeros64(b)
	a, b = a<<i, b<<j
	q, rest := bits.Div64(a>>1, a<<63, b) // between 2^62 and 2^64
	up := bits.LeadingZeros64(q)
	q <<= up
	if rest > 0 {
		q |= 1 // so that no half is one that is none
	}
	half := q&(1<<11-1) + q>>11&1
	if q >>= 11; half > 1<<10 {
		q++
	}
	return float64(q) * math.Float64frombits(uint64(1023+j-i-63-up+11)<<52)
}

// exponent reads an integer with sign from i on, which at most is so large that the number is beyond all tables. An end
// of 0 means that there is none.
func exponent(text []byte, i int) (e, end int) {
	negative := false
	if i < len(text) && (text[i] == '-' || text[i] == '+') {
		negative = text[i] == '-'
		i++
	}
	start := i
	for i < len(text) && text[i]-'0' <= 9 {
		if e < 10000 {
			e = 10*e + int(text[i]-'0')
		}
		i++
	}
	if i == start {
		return 0, 0
	}
	if negative {
		e = -e
	}
	return e, i
}

// pow10 are the powers of ten that a float64 holds exactly.
var pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
	1e17, 1e18, 1e19, 1e20, 1e21, 1e22}
