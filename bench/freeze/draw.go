package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/conetune/conetune/internal/figure"
)

// draw makes the picture of the tables that grow: seconds and memory over their nonzeros, each series with its slope.
func draw(f *file) figure.Figure {
	seconds, memory := figure.Panel{YLabel: "CPU seconds", LogY: true}, figure.Panel{YLabel: "peak memory (MB)", LogY: true}
	jobs := grownTables(math.Inf(1))
	var series []string
	for _, j := range jobs {
		if !slices.Contains(series, j.series) {
			series = append(series, j.series)
		}
	}
	style := 0
	for _, name := range series {
		var x, y, z []float64
		for _, j := range jobs {
			if r := f.find(j.name); r != nil && j.series == name && r.grade() > 0 {
				x, y, z = append(x, float64(j.table.(grown).nonzeros())), append(y, r.Seconds), append(z, r.Peak)
			}
		}
		if len(x) == 0 {
			continue
		}
		words := strings.Fields(name) // the sweep, with logistic or the method
		name = words[0] + " " + words[2]
		if words[1] == "logistic" {
			name = words[0] + " " + words[1]
		}
		seconds.Lines = append(seconds.Lines, figure.Line{Name: name + slope(x, y), X: x, Y: y, Style: style})
		memory.Lines = append(memory.Lines, figure.Line{Name: name + slope(x, z), X: x, Y: z, Style: style})
		style++
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
