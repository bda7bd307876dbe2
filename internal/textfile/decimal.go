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
	if count > 19 || e < -largestFive || e > largestFive { // m < 2^64 up to 19 digits
		v, err := strconv.ParseFloat(unsafe.String(&text[0], i), 64) // which keeps nothing of the text
		if err != nil {
			return 0, 0
		}
		return v, i
	}
	v := scaled(m, e)
	if negative {
		v = -v
	}
	return v, i
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

// scaled returns the float64 nearest to m 10^e, |e| at most largestFive.
//
// Where m and the power of ten are float64s there is one rounding. Otherwise m 5^e is brought to an integer of 63 or 64
// bits, with its lowest bit set where something was cut off, so that again there is one rounding, that to 53 bits; what
// remains is a power of two.
func scaled(m uint64, e int) float64 {
	switch {
	case m < 1<<53 && e >= -22 && e <= 22:
		if e < 0 {
			return float64(m) / pow10[-e]
		}
		return float64(m) * pow10[e]
	case m == 0:
		return 0
	case e < 0:
		// m 2^a and d = 5^-e 2^b have 64 bits each, so that m 2^(a+63) / d is below 2^64 and has 63 bits at least.
		a, b := bits.LeadingZeros64(m), bits.LeadingZeros64(pow5[-e])
		m <<= a
		q, rest := bits.Div64(m>>1, m<<63, pow5[-e]<<b)
		if rest != 0 {
			q |= 1
		}
		return float64(q) * power2(b-a-63+e)
	}
	high, low := bits.Mul64(m, pow5[e])
	if high == 0 {
		return float64(low) * power2(e)
	}
	a := bits.LeadingZeros64(high)
	q := high<<a | low>>(64-a)
	if low<<a != 0 {
		q |= 1
	}
	return float64(q) * power2(64-a+e)
}

// power2 is 2^e, for e that give a normal number.
func power2(e int) float64 { return math.Float64frombits(uint64(1023+e) << 52) }

// pow10 are the powers of ten that a float64 holds exactly.
var pow10 = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
	1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// largestFive is the largest power of five below 2^64.
const largestFive = 27

// pow5 are the powers of five below 2^64.
var pow5 = func() (p [largestFive + 1]uint64) {
	p[0] = 1
	for k := range largestFive {
		p[k+1] = 5 * p[k]
	}
	return p
}()
