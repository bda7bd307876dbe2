package glm

// taut sets x to the minimum of 1/2 |x - v|^2 + by sum_j |x_j+1 - x_j|: the slopes of the shortest string through a
// tube of half width by about the sums of v, both ends of which are fixed (Davies, Kovac, Local extremes, runs, strings
// and multiresolution, Ann. Statist. 29, 2001). Values of a piece are equal to the last digit.
func taut(v []float64, by float64, x []float64) {
	type corner struct {
		at  int
		sum float64
	}
	slope := func(a, b corner) float64 { return (b.sum - a.sum) / float64(b.at-a.at) }
	n := len(v)
	// The funnel from the last bend on: the lower hull of the upper side, whose slopes rise, and the upper hull of the
	// lower side.
	above, below := make([]corner, 1, n+1), make([]corner, 1, n+1)
	narrow := func(hull []corner, c corner, sign float64) []corner {
		for len(hull) > 1 && sign*(slope(hull[len(hull)-2], hull[len(hull)-1])-slope(hull[len(hull)-1], c)) >= 0 {
			hull = hull[:len(hull)-1]
		}
		return append(hull, c)
	}
	bend := func(hull []corner) []corner {
		level := slope(hull[0], hull[1])
		for j := hull[0].at; j < hull[1].at; j++ {
			x[j] = level
		}
		return hull[1:]
	}
	sum := 0.0
	for j, value := range v {
		sum += value
		up, low := corner{j + 1, sum + by}, corner{j + 1, sum - by}
		if j == n-1 {
			up.sum, low.sum = sum, sum
		}
		above = narrow(above, up, 1)
		for len(above) == 2 && len(below) > 1 && slope(above[0], above[1]) < slope(below[0], below[1]) {
			below = bend(below)
			above[0] = below[0]
		}
		below = narrow(below, low, -1)
		for len(below) == 2 && len(above) > 1 && slope(below[0], below[1]) > slope(above[0], above[1]) {
			above = bend(above)
			below[0] = above[0]
		}
	}
	for len(above) > 1 {
		above = bend(above)
	}
}
