package figure

import (
	"math"
	"strconv"
)

// linearRange gives a linear axis room above and below the data.
func (a *axis) linearRange() {
	room := 0.06 * (a.max - a.min)
	if room <= 1e-12*max(math.Abs(a.max), math.Abs(a.min)) { // constant
		room = max(0.1*math.Abs(a.max), 1e-12)
	}
	a.min, a.max = a.min-room, a.max+room
	a.ticks = decimalTicks{count: 4}
}

// logRange gives a logarithmic axis room above and below the data.
func (a *axis) logRange() {
	room := math.Pow(a.max/a.min, 0.08)
	if !(room > 1.001) { // constant
		room = 2
	}
	a.min, a.max = max(a.min/room, math.SmallestNonzeroFloat64), min(a.max*room, math.MaxFloat64)
	a.log, a.ticks = true, logTicks{}
}

// decimalTicks puts about count ticks at multiples of 1, 2 or 5 times a power of ten.
type decimalTicks struct{ count int }

func (t decimalTicks) Ticks(lo, hi float64) []tick {
	step := niceStep((hi - lo) / float64(t.count))
	if !(step > 0) || math.IsInf(step, 0) || lo+step == lo || hi+step == hi {
		return []tick{{lo, label(lo)}}
	}
	var ticks []tick
	first := math.Ceil(lo/step - 1e-9)
	for i := range 2 * t.count {
		if v := (first + float64(i)) * step; v <= hi+1e-9*step {
			ticks = append(ticks, tick{v, label(v)})
		}
	}
	return ticks
}

// names are ticks at 0, 1, and so on.
type names []string

func (n names) Ticks(float64, float64) (ticks []tick) {
	for k, name := range n {
		ticks = append(ticks, tick{float64(k), name})
	}
	return ticks
}

// niceStep returns the smallest of 1, 2, 5 times a power of ten that is at least x.
func niceStep(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, f := range []float64{1, 2, 5} {
		if f*power >= x*(1-1e-9) {
			return f * power
		}
	}
	return 10 * power
}

// logTicks labels powers of ten: all, or every so many when there are more than
// five. Below two decades it labels 1, 2 and 5 times the powers, and within a
// part of one it falls back to decimal steps.
type logTicks struct{}

func (logTicks) Ticks(lo, hi float64) []tick {
	first, last := int(math.Floor(math.Log10(lo))), int(math.Ceil(math.Log10(hi)))
	decades := math.Log10(hi) - math.Log10(lo)
	every := 1 + int(decades/5)
	var ticks []tick
	labelled := 0
	for e := first; e <= last; e++ {
		for f := 1; f <= 9; f++ {
			v := float64(f) * math.Pow10(e)
			if v < lo*(1-1e-12) || v > hi*(1+1e-12) {
				continue
			}
			mark := tick{value: v}
			switch {
			case f == 1 && ((e%every)+every)%every == 0:
				mark.label = label(v)
			case decades < 2 && (f == 2 || f == 5):
				mark.label = label(v)
			case decades > 4 && f != 1:
				continue // small ticks would run into each other
			}
			if mark.label != "" {
				labelled++
			}
			ticks = append(ticks, mark)
		}
	}
	if labelled < 3 && decades < 2 {
		return decimalTicks{count: 5}.Ticks(lo, hi)
	}
	return ticks
}

// label writes a tick value shortly: 0.001, 25, 1e-06.
func label(v float64) string {
	if v == 0 {
		return "0"
	}
	if a := math.Abs(v); a >= 1e5 || a < 1e-3 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(round(v, 5), 'f', -1, 64)
}

// round keeps the given number of significant digits, so that 3*0.1 reads 0.3.
func round(v float64, digits int) float64 {
	r, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil { // FormatFloat writes what ParseFloat reads
		return v
	}
	return r
}
