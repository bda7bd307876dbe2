package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// tolerances are from where on something is worse.
type tolerances struct{ slower, errors float64 }

// A case is judged by its time from leastSeconds on, and by its memory from moreMemory times the old on.
const leastSeconds, moreMemory = 0.2, 1.5

// compareFiles compares two files, and says whether the newer is worse.
func compareFiles(w io.Writer, older, newer string, limits tolerances) (worse bool, err error) {
	var files [2]*file
	for i, path := range []string{older, newer} {
		if files[i], err = read(path); err != nil {
			return false, err
		}
	}
	return compare(w, files[0], files[1], limits), nil
}

// compare prints case by case what is worse, then sums and means.
func compare(w io.Writer, older, newer *file, limits tolerances) (worse bool) {
	found := map[string]int{}
	var pairs []pair
	missing := 0
	for _, a := range older.Cases {
		b := newer.find(a.Name)
		if b == nil {
			missing++
			if newer.Complete {
				found["lost"]++
				fmt.Fprintf(w, "lost     %s: %s -> no such case\n", a.Name, a.Status)
			}
			continue
		}
		p := pair{a, *b}
		pairs = append(pairs, p)
		if !slices.Equal(p.old.Args, p.new.Args) {
			found["other"]++
		}
		for _, f := range p.findings(limits) {
			found[f.kind]++
			fmt.Fprintf(w, "%-8s %s: %s\n", f.kind, a.Name, f.text)
		}
	}
	fmt.Fprintf(w, "%d cases of both (%d with another command line), %d of the old alone, %d of the new alone\n",
		len(pairs), found["other"], missing, len(newer.Cases)-len(pairs))
	fmt.Fprintf(w, "%d lost, %d worse, %d slower, %d of more memory; %d won, %d better, %d traded: less error of the "+
		"folds, more of the test\n\n",
		found["lost"], found["worse"], found["slower"], found["memory"], found["won"], found["better"], found["traded"])
	summarise(w, pairs, limits)
	return found["lost"]+found["worse"]+found["slower"]+found["memory"] > 0
}

// pair is a case of both files.
type pair struct{ old, new result }

// finding is a line about a case.
type finding struct{ kind, text string }

// grade of a status: 2 for a verdict or a choice as asked for, 1 for an answer of less, 0 for none.
func (r result) grade() int {
	switch {
	case r.Status == failed || r.Status == killed:
		return 0
	case r.Exit == 0:
		return 2
	case r.Exit == 1:
		return 1
	}
	return 0
}

func (p pair) findings(limits tolerances) (list []finding) {
	add := func(kind, format string, values ...any) {
		list = append(list, finding{kind, fmt.Sprintf(format, values...)})
	}
	a, b := p.old, p.new
	switch change := b.grade() - a.grade(); {
	case change < 0 || change == 0 && a.grade() == 2 && a.Args[0] == "solve" && a.Status != b.Status:
		add("lost", "%s -> %s %s", a.Status, b.Status, b.Message)
	case change > 0:
		add("won", "%s -> %s", a.Status, b.Status)
	}
	if b.grade() == 0 {
		return list
	}
	chosen := "refit.validation_error"
	for _, name := range []string{chosen, "refit.test_error", "objective"} {
		kind, change := "worse", p.change(name)
		switch {
		case math.Abs(change) <= limits.errors:
			continue
		case change < 0:
			kind = "better"
		case name == "refit.test_error" && p.change(chosen) < -limits.errors:
			kind = "traded"
		}
		add(kind, "%s %.8g -> %.8g (%+.1e)", name, a.Errors[name], b.Errors[name], change)
	}
	if b.Seconds >= leastSeconds && b.Seconds > limits.slower*a.Seconds {
		add("slower", "%.2f -> %.2f s (%.2f)", a.Seconds, b.Seconds, b.Seconds/a.Seconds)
	}
	if b.Peak > moreMemory*a.Peak && a.Peak > 0 {
		add("memory", "%.0f -> %.0f MB (%.2f)", a.Peak, b.Peak, b.Peak/a.Peak)
	}
	return list
}

// change is how much larger an error has become, relative to the old one: 0 where there is none, infinite where it is
// lost. Objectives of two answers are apart, either way, relative to them or to 1.
func (p pair) change(name string) float64 {
	a, before := p.old.Errors[name]
	b, after := p.new.Errors[name]
	switch {
	case !before, name == "objective" && (p.old.grade() < 2 || p.new.grade() < 2):
		return 0
	case !after:
		return math.Inf(1)
	case name == "objective":
		return math.Abs(a-b) / max(1, math.Abs(a), math.Abs(b))
	}
	return (b - a) / max(math.Abs(a), 1e-12)
}

// summarise has sums and geometric means over tables, programs and all, and how near the coefficients are.
func summarise(w io.Writer, pairs []pair, limits tolerances) {
	fmt.Fprintln(
		w, "          answered     CPU old     CPU new   ratio    mean ratio: CPU  memory  test error  iterations")
	for _, kind := range []struct{ name, command string }{{"tables", "tune"}, {"programs", "solve"}, {"all", ""}} {
		var seconds [2]float64
		var cpu, memory, test, iterations mean
		n := 0
		for _, p := range pairs {
			if kind.command != "" && p.old.Args[0] != kind.command {
				continue
			}
			if p.old.grade() == 0 || p.new.grade() == 0 {
				continue // seconds that say nothing
			}
			n++
			seconds[0], seconds[1] = seconds[0]+p.old.Seconds, seconds[1]+p.new.Seconds
			cpu.add(p.old.Seconds+shift, p.new.Seconds+shift)
			if p.old.Peak > 0 && p.new.Peak > 0 {
				memory.add(p.old.Peak, p.new.Peak)
			}
			if a, b := p.old.Errors["refit.test_error"], p.new.Errors["refit.test_error"]; a > 0 && b > 0 {
				test.add(a, b)
			}
			if p.old.grade() == 2 && p.new.grade() == 2 {
				iterations.add(float64(p.old.Iterations+1), float64(p.new.Iterations+1))
			}
		}
		if n > 0 {
			fmt.Fprintf(w, "%-10s %8d %9.2f s %9.2f s %7.3f %18.3f %7.3f %11.4f %11.3f\n",
				kind.name, n, seconds[0], seconds[1], seconds[1]/seconds[0], cpu.value(), memory.value(), test.value(),
				iterations.value())
		}
	}
	same, near := 0, 0
	var far, unsteady []string
	for _, p := range pairs {
		a, b := p.old.Answer, p.new.Answer
		apart := func(x, y float64) bool { return math.Abs(x-y) > limits.errors*max(x, y) }
		switch {
		case a.Digest == b.Digest:
			same++
		case !apart(a.Norm1, b.Norm1) && !apart(a.Norm2, b.Norm2):
			near++
		default:
			far = append(far, p.old.Name)
		}
		if p.old.Unsteady || p.new.Unsteady {
			unsteady = append(unsteady, p.old.Name)
		}
	}
	fmt.Fprintf(w, "coefficients: %d the same to the bit, %d with norms within %.0e, %d further apart %s\n",
		same, near, limits.errors, len(far), strings.Join(far, " "))
	if len(unsteady) > 0 {
		fmt.Fprintf(w, "unsteady, with coefficients that differ from run to run: %s\n", strings.Join(unsteady, " "))
	}
}

// shift is added to seconds in geometric means: below it a process mostly starts.
const shift = 0.01

// mean is a geometric mean of ratios; the zero value is that of none, and 1.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(older, newer float64) { m.sum += math.Log(newer / older); m.n++ }
func (m *mean) value() float64           { return math.Exp(m.sum / float64(max(1, m.n))) }
