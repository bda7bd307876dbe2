package paper

import "math"

// A reading takes one number from a point of a trace, nil where it has none.
type reading func(*Point) *float64

// seconds and iteration are the two horizontal axes.
func seconds(p *Point) float64   { return p.Seconds }
func iteration(p *Point) float64 { return float64(p.Iteration) }

// alpha is the penalty parameter, which only VF-iDCA has.
func alpha(p *Point) *float64 {
	if p.Alpha == 0 {
		return nil
	}
	return &p.Alpha
}

// runs are the traces of a method on a row, in the order of the seeds.
type runs [][]Point

// span is the range in which the mean of a reading is defined and may still change: from where every run that has the
// reading at all has reached one to the end of the last run. ok is false where no run has it.
func (r runs) span(x func(*Point) float64, value reading) (from, to float64, ok bool) {
	from, to = math.Inf(-1), math.Inf(-1)
	for _, trace := range r {
		for k := range trace {
			if value(&trace[k]) != nil {
				from, ok = max(from, x(&trace[k])), true
				to = max(to, x(&trace[len(trace)-1]))
				break
			}
		}
	}
	return from, to, ok
}

// mean is the mean over the runs of what each had last reached at a place; not a number where a run had nothing yet.
// Runs that never have the reading, such as failed ones, are left out.
func (r runs) mean(at float64, x func(*Point) float64, value reading) float64 {
	sum, n := 0.0, 0
	for _, trace := range r {
		last, any := math.NaN(), false
		for k := range trace {
			v := value(&trace[k])
			any = any || v != nil
			if v != nil && x(&trace[k]) <= at {
				last = *v
			}
		}
		if any {
			sum, n = sum+last, n+1
		}
	}
	return sum / float64(n)
}

// placesOf returns at most n places from lo to hi, both ends exactly: in equal ratios, or else whole ones evenly.
func placesOf(lo, hi float64, n int, ratios bool) []float64 {
	if !ratios {
		n = min(n, int(hi-lo)+1)
	}
	if !(hi > lo) || ratios && !(lo > 0) {
		return []float64{hi}
	}
	out := make([]float64, n)
	for k := range out {
		share := float64(k) / float64(n-1)
		if out[k] = math.Round(lo + (hi-lo)*share); ratios {
			out[k] = lo * math.Pow(hi/lo, share)
		}
	}
	out[0], out[n-1] = lo, hi
	return out
}
