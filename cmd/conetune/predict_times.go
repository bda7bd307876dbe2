package main

import (
	"math"
	"strconv"
	"strings"
)

// parseTimes reads "100,365".
func parseTimes(text string) (times []float64, err error) {
	for _, field := range strings.Split(text, ",") {
		t, err := strconv.ParseFloat(strings.TrimSpace(field), 64)
		if err != nil || !(t > 0) || math.IsInf(t, 1) {
			return nil, badInputf("--survival: time %d is %q, expected positive numbers", len(times)+1, field)
		}
		times = append(times, t)
	}
	return times, nil
}

// timeAndEvent are the cells of a time that is negative where it is censored.
func timeAndEvent(y float64) []string {
	event := "0"
	switch {
	case y != y:
		return []string{"", ""}
	case y > 0:
		event = "1"
	}
	return []string{strconv.FormatFloat(math.Abs(y), 'g', -1, 64), event}
}
