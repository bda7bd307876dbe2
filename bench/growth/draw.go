package main

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/conetune/conetune/internal/figure"
)

// draw makes the picture: seconds and memory over the nonzeros of the table, each series with its slope.
func draw(runs []run) figure.Figure {
	seconds, memory := figure.Panel{YLabel: "CPU seconds", LogY: true}, figure.Panel{YLabel: "peak memory (MB)", LogY: true}
	style := 0
	for _, s := range sweeps {
		for _, j := range s.jobs {
			var of []run
			for _, r := range runs {
				if r.sweep == s.name && r.job == j {
					of = append(of, r)
				}
			}
			if len(of) == 0 {
				continue
			}
			slices.SortFunc(of, func(a, b run) int { return cmp.Compare(a.nonzeros, b.nonzeros) })
			var x, y, z []float64
			for _, r := range of {
				x, y, z = append(x, float64(r.nonzeros)), append(y, r.seconds), append(z, r.megabytes)
			}
			name := s.name + " " + j.method
			if j.labels() {
				name = s.name + " " + j.model
			}
			seconds.Lines = append(seconds.Lines, figure.Line{Name: name + slope(x, y), X: x, Y: y, Style: style})
			memory.Lines = append(memory.Lines, figure.Line{Name: name + slope(x, z), X: x, Y: z, Style: style})
			style++
		}
	}
	return figure.Figure{Title: "Growth with the table", XLabel: "nonzeros of the table", LogX: true, Panels: []figure.Panel{seconds, memory}}
}

// slope is that of the last decade of a line, in words.
func slope(x, y []float64) string {
	n := len(x) - 1
	first := n
	for first > 0 && x[n]/x[first-1] < 11 {
		first--
	}
	if first == n || !(y[first] > 0) || !(y[n] > 0) {
		return ""
	}
	return fmt.Sprintf(": %.1f", math.Log(y[n]/y[first])/math.Log(x[n]/x[first]))
}
