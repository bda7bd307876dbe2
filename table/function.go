package table

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/floats"
)

// Function is a function of a number x, a date being days since 1970-01-01:
//
//	power    ((x - At) / Scale)^Power
//	ramp     the same of max(0, (x - At) / Scale), up to Limit where that is above 0
//	sine     sin(2 pi x / Scale), of what is left of x / Scale without whole numbers
//	cosine   cos(2 pi x / Scale), the same
//	weekday  1 where x is on day At of the week, 0 for Monday, and 0 elsewhere
type Function struct {
	Kind  string  `json:"function"`
	At    float64 `json:"at,omitempty"`
	Scale float64 `json:"scale,omitempty"`
	Limit float64 `json:"limit,omitempty"`
	Power int     `json:"power,omitempty"`
}

// The kinds of a [Function].
const (
	Power   = "power"
	Ramp    = "ramp"
	Sine    = "sine"
	Cosine  = "cosine"
	Weekday = "weekday"
)

// Of is the value at a number.
func (f Function) Of(x float64) float64 {
	switch f.Kind {
	case Sine:
		return math.Sin(2 * math.Pi * (x/f.Scale - math.Floor(x/f.Scale)))
	case Cosine:
		return math.Cos(2 * math.Pi * (x/f.Scale - math.Floor(x/f.Scale)))
	case Weekday:
		const thursday = 3 // 1970-01-01
		if day := math.Floor(x) + thursday; day-7*math.Floor(day/7) == f.At {
			return 1
		}
		return 0
	}
	u, v := (x-f.At)/f.Scale, 1.0
	if f.Kind == Ramp {
		if u = max(0, u); f.Limit > 0 {
			u = min(u, f.Limit)
		}
	}
	for range f.Power {
		v *= u
	}
	return v
}

// Basis is what a number becomes: features, of which number j is the sum over k of Weights[j][k] times function k.
type Basis struct {
	// Kind is Spline, Polynomial or Parts.
	Kind string `json:"kind"`
	// Names of features, behind the name of the column.
	Names     []string    `json:"names"`
	Functions []Function  `json:"functions"`
	Weights   [][]float64 `json:"weights"`
}

// The kinds of a [Basis].
//
// A Spline of d features spans the natural cubic splines with d - 1 inner knots, at the quantiles k/d of the training
// rows (type 7 of Hyndman and Fan, The American Statistician 50, 1996), or where two of these or of the least and the
// largest number are the same, at those of its different numbers: R's ns(x, df = d). A Polynomial spans those of degree
// d. The first feature of both is the number itself, and the others, in the order of knots and degrees, have mean 0 and
// deviation 1 in the training rows and are orthogonal there to a straight line and to each other, as are those of R's
// poly. Parts are those of dates.
const (
	Spline     = "spline"
	Polynomial = "polynomial"
	Parts      = "parts"
)

// learned says whether a basis depends on training rows; nil does not.
func (b *Basis) learned() bool { return b != nil && b.Kind != Parts }

// append appends the features of a number, the first of which has a place.
func (b *Basis) append(list []entry, at int, x float64) []entry {
	var room [16]float64
	values := room[:0]
	for _, f := range b.Functions {
		values = append(values, f.Of(x))
	}
	for j, weights := range b.Weights {
		sum := 0.0
		for k, w := range weights {
			if w != 0 {
				sum += w * values[k]
			}
		}
		list = append(list, entry{at + j, sum})
	}
	return list
}

// newBasis is a spline or polynomial of so many features, which is yet to be learned.
func newBasis(kind string, features int) *Basis {
	b := &Basis{Kind: kind, Names: []string{""}}
	for k := 2; k <= features; k++ {
		b.Names = append(b.Names, "("+kind+strconv.Itoa(k)+")")
	}
	return b
}

// of is the basis as it is learned from numbers, without those that are missing.
func (b *Basis) of(x []float64) *Basis {
	if !b.learned() || len(x) == 0 {
		return b
	}
	x, d := slices.Clone(x), len(b.Names)
	slices.Sort(x)
	low, high := x[0], x[len(x)-1]
	out := &Basis{Kind: b.Kind, Names: b.Names}
	var raw [][]float64 // weights of what is made orthogonal
	add := func(f Function) { out.Functions = append(out.Functions, f) }
	weigh := func(pairs ...float64) { // a place and its weight, one after the other
		w := make([]float64, 2*d+3)
		for k := 0; k < len(pairs); k += 2 {
			w[int(pairs[k])] += pairs[k+1]
		}
		raw = append(raw, w)
	}
	size := cmp.Or(high-low, 1)
	add(Function{Kind: Power, Scale: 1, Power: 1})
	if weigh(1, 1); b.Kind == Polynomial {
		for k := range d + 1 {
			add(Function{Kind: Power, At: low + size/2, Scale: size / 2, Power: k})
		}
		for k := 2; k <= d+1; k++ {
			weigh(float64(k), 1)
		}
		return out.orthogonal(raw, x)
	}
	// With u from 0 to 1 over the range, and c_k = min(u, 1) - knot k where that is positive, the functions
	// c_k^3 / (1 - knot k) + 3 (1 - knot k) (u - 1)+, less the one of the last inner knot, are linear outside of it.
	add(Function{Kind: Power, At: low, Scale: size})
	add(Function{Kind: Power, At: low, Scale: size, Power: 1})
	add(Function{Kind: Ramp, At: high, Scale: size, Power: 1})
	inner := knots(x, d)
	if all := slices.Concat([]float64{low}, inner, []float64{high}); len(slices.Compact(all)) < d+1 {
		inner = knots(slices.Compact(slices.Clone(x)), d)
	}
	weigh(2, 1)
	const line, first = 3, 4
	part := func(k int) (cube, slope float64) {
		rest := out.Functions[k].Limit
		if rest == 0 { // the range is a point
			return 0, 0
		}
		return 1 / rest, 3 * rest
	}
	for _, knot := range slices.Concat([]float64{low}, inner) {
		add(Function{Kind: Ramp, At: knot, Scale: size, Limit: (high - knot) / size, Power: 3})
	}
	last := len(out.Functions) - 1
	lastCube, lastSlope := part(last)
	for k := first; k < last; k++ {
		cube, slope := part(k)
		weigh(float64(k), cube, line, slope, float64(last), -lastCube, line, -lastSlope)
	}
	return out.orthogonal(raw, x)
}

// knots are the d - 1 inner quantiles of sorted numbers.
func knots(sorted []float64, d int) (list []float64) {
	for k := 1; k < d; k++ {
		at := float64(len(sorted)-1) * float64(k) / float64(d)
		i := int(at)
		list = append(list, sorted[i]+(at-float64(i))*(sorted[min(i+1, len(sorted)-1)]-sorted[i]))
	}
	return list
}

// orthogonal sets the weights: the number, and what is left of the functions after the first two, a constant and a
// line, when they are made orthogonal over the numbers in turn, brought to a mean square of 1 (Gram and Schmidt,
// twice). One of which nothing is left is 0.
func (b *Basis) orthogonal(raw [][]float64, x []float64) *Basis {
	n, m := float64(len(x)), len(b.Functions)
	values := make([][]float64, m)
	for k, f := range b.Functions {
		values[k] = make([]float64, len(x))
		for i, v := range x {
			values[k][i] = f.Of(v)
		}
	}
	number := make([]float64, m)
	number[0] = 1
	b.Weights = append(b.Weights, number)
	var done, weights [][]float64
	for j, w := range raw {
		w, v := w[:m:m], make([]float64, len(x))
		for k, c := range w {
			floats.AddScaled(v, c, values[k])
		}
		dot := func(u []float64) (sum float64) {
			for i, c := range v {
				sum += c * u[i]
			}
			return sum / n
		}
		before := math.Sqrt(dot(v))
		for range 2 {
			for q, u := range done {
				c := dot(u)
				floats.AddScaled(v, -c, u)
				floats.AddScaled(w, -c, weights[q])
			}
		}
		const rounding = 1e-10
		norm := math.Sqrt(dot(v))
		scale := 0.0
		if norm > rounding*before {
			scale = 1 / norm
		}
		floats.Scale(scale, v)
		floats.Scale(scale, w)
		if done, weights = append(done, v), append(weights, w); j >= 2 {
			b.Weights = append(b.Weights, w)
		}
	}
	return b
}

// The parts of dates.
const (
	Days    = "days"    // since 1970-01-01
	Year    = "year"    // with decimals, 1970 + days / 365.2425
	Season  = "season"  // sine and cosine of the year
	DayName = "weekday" // a feature for each day of the week but Monday
	Hour    = "hour"    // sine and cosine of the day
	// Covered are the year, and of the others those that the training rows have twice or more: of two years the season,
	// of two weeks the weekday, and the hour where dates have one.
	Covered = "auto"
)

// DateParts are their names.
func DateParts() []string { return []string{Days, Year, Season, DayName, Hour, Covered} }

const daysOfYear = 365.2425 // of the Gregorian calendar

// dateBasis are these parts of dates from a range. What goes on smoothly round a circle is a sine and a cosine, and
// what has a name is a level.
func dateBasis(parts []string, span float64, clock bool) *Basis {
	if slices.Contains(parts, Covered) {
		parts = []string{Year}
		for _, p := range []struct {
			name  string
			there bool
		}{{Season, span >= 2*daysOfYear}, {DayName, span >= 2*7}, {Hour, clock && span >= 2}} {
			if p.there {
				parts = append(parts, p.name)
			}
		}
	}
	b := &Basis{Kind: Parts}
	add := func(name string, f Function) {
		b.Names, b.Functions = append(b.Names, name), append(b.Functions, f)
	}
	circle := func(name string, days float64) {
		add("("+name+".sin)", Function{Kind: Sine, Scale: days})
		add("("+name+".cos)", Function{Kind: Cosine, Scale: days})
	}
	for _, part := range parts {
		switch part {
		case Days:
			add("", Function{Kind: Power, Scale: 1, Power: 1})
		case Year:
			add("(year)", Function{Kind: Power, At: -1970 * daysOfYear, Scale: daysOfYear, Power: 1})
		case Season:
			circle(Season, daysOfYear)
		case Hour:
			circle(Hour, 1)
		case DayName:
			for k, day := range []string{"Tue", "Wed", "Thu", "Fri", "Sat", "Sun"} {
				add("(weekday)="+day, Function{Kind: Weekday, At: float64(k + 1)})
			}
		}
	}
	for j := range b.Functions {
		w := make([]float64, len(b.Functions))
		w[j] = 1
		b.Weights = append(b.Weights, w)
	}
	return b
}

// validate says what is wrong with a basis of a file: lists of lengths that do not go together.
func (b *Basis) validate() error {
	if b == nil {
		return nil
	}
	if len(b.Names) == 0 || len(b.Weights) != len(b.Names) {
		return fmt.Errorf("%d features of %d names", len(b.Weights), len(b.Names))
	}
	for _, w := range b.Weights {
		if len(w) != len(b.Functions) {
			return fmt.Errorf("%d weights of %d functions", len(w), len(b.Functions))
		}
	}
	return nil
}

// mostDegree bounds degrees of freedom.
const mostDegree = 20
