package unpack

import (
	"math"
	"math/big"
	"slices"
	"strconv"
	"time"

	"github.com/conetune/conetune/table"
)

// Kind is what the bytes of a cell are.
type Kind int

// The kinds of cells.
const (
	None Kind = iota
	Text
	Bool
	Signed // integers
	Unsigned
	Float // of as many bytes as there are
	Decimal
	Span // so many units of time, which are seconds in a table
	Moment
)

// Cell is what the bytes of a cell mean, of which the lowest comes first, but in texts.
type Cell struct {
	Kind
	// Scale are the digits after the point of a decimal.
	Scale int
	// Second is how many of a unit of time are a second, 0 for days.
	Second int64
}

// MostScale bounds the digits after the point of decimals: those of 256 bits have 76 at most.
const MostScale = 400

// Put sets the cell of the last row in column j.
func (c *Cell) Put(b *table.Builder, j int, v []byte) {
	switch c.Kind {
	case Text:
		b.Text(j, string(v))
	case Bool:
		text := "False"
		if v[0] != 0 {
			text = "True"
		}
		b.Text(j, text)
	case Signed:
		b.Number(j, float64(Integer(v, true)))
	case Unsigned:
		b.Number(j, float64(uint64(Integer(v, false))))
	case Float:
		b.Number(j, float(v))
	case Decimal:
		b.Number(j, decimal(v, c.Scale))
	case Span:
		b.Number(j, float64(Integer(v, true))/float64(c.Second))
	case Moment:
		n, per := Integer(v, true), c.Second
		if per == 0 {
			n, per = n*24*60*60, 1
		}
		b.Time(j, time.Unix(n/per, n%per*(1e9/per)).UTC())
	}
}

// float is a number of 16, 32 or 64 bits; one of 32 is that whose shortest form it is, 0.1 and not 0.10000000149.
func float(v []byte) float64 {
	bits := uint64(Integer(v, false))
	switch len(v) {
	case 4:
		x, _ := strconv.ParseFloat(strconv.FormatFloat(float64(math.Float32frombits(uint32(bits))), 'g', -1, 32), 64)
		return x
	case 2:
		sign := 1 - 2*float64(bits>>15)
		switch exponent, fraction := int(bits>>10&31), float64(bits&1023)/1024; {
		case exponent == 0:
			return sign * math.Ldexp(fraction, -14)
		case exponent < 31:
			return sign * math.Ldexp(1+fraction, exponent-15)
		case fraction > 0:
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return math.Float64frombits(bits)
}

// decimal is the number that is nearest to an integer in two's complement over the power of ten of the scale.
func decimal(v []byte, scale int) float64 {
	negative := len(v) > 0 && v[len(v)-1] >= 0x80
	// Integers and powers of ten up to these are numbers, and one division rounds once.
	const exact, exactScale = 1 << 53, 22
	k := int64(0)
	if negative {
		k = -1
	}
	for at := len(v) - 1; at >= 0 && -exact <= k && k <= exact; at-- {
		k = k<<8 | int64(v[at])
	}
	if -exact <= k && k <= exact && 0 <= scale && scale <= exactScale {
		return float64(k) / math.Pow10(scale)
	}
	high := slices.Clone(v)
	slices.Reverse(high)
	n := new(big.Int).SetBytes(high)
	if negative {
		n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(8*len(v))))
	}
	f, _ := strconv.ParseFloat(n.String()+"e"+strconv.Itoa(-scale), 64)
	return f
}
