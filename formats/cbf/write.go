package cbf

import (
	"bufio"
	"fmt"
	"io"
	"slices"

	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/internal/words"
)

// Write writes the model to a file, gzipped when the path ends in .gz. The file appears whole or not at all.
func Write(path string, m *Model) error {
	return textfile.Write(path, func(w io.Writer) error { return Encode(w, m) })
}

// Encode writes the model, entries in their order, with numbers of as many digits
// as it takes to read the same doubles back. The version is raised where the cones
// need it. Power cones with the same powers share an entry of POWCONES.
func Encode(w io.Writer, m *Model) error {
	if err := m.check(); err != nil {
		return err
	}
	sense := "MIN"
	if m.Maximize {
		sense = "MAX"
	}
	e := &encoder{bufio.NewWriter(w)}
	e.printf("VER\n%d\n\nOBJSENSE\n%s\n", m.neededVersion(), sense)
	primal, dual := e.powers("POWCONES", Power, m), e.powers("POW*CONES", DualPower, m)
	e.cones("VAR", m.Var, primal, dual)
	e.orders("PSDVAR", m.PSDVar)
	e.cones("CON", m.Con, primal, dual)
	e.orders("PSDCON", m.PSDCon)
	for _, s := range sections {
		entries := *s.list(m)
		e.count(s.keyword, len(entries))
		for _, c := range entries {
			for _, i := range c.Index[:len(s.indices)] {
				e.printf("%d ", i)
			}
			e.printf("%v\n", c.Value)
		}
		if s.keyword == "OBJACOORD" && m.Constant != 0 {
			e.printf("\nOBJBCOORD\n%v\n", m.Constant)
		}
	}
	return e.Flush()
}

// neededVersion is that of the model, or a later one that has its cones.
func (m *Model) neededVersion() int {
	v := max(m.Version, 1)
	for _, c := range slices.Concat(m.Var, m.Con) {
		switch c.Kind {
		case Exponential, DualExponential, Power, DualPower:
			v = max(v, 2)
		case PSDVector, GeometricMean, DualGeometricMean:
			v = max(v, 4)
		}
	}
	return v
}

// encoder writes the sections; the first error stays in it. A number stands in the shortest form that reads back as the
// same double.
type encoder struct{ *bufio.Writer }

func (e *encoder) printf(format string, args ...any) { _, _ = fmt.Fprintf(e, format, args...) }

// count opens a section of n lines, unless there are none.
func (e *encoder) count(section string, n int) {
	if n > 0 {
		e.printf("\n%s\n%d\n", section, n)
	}
}

// powers writes POWCONES or POW*CONES and returns the entries.
func (e *encoder) powers(section string, kind Kind, m *Model) map[string]int {
	number := map[string]int{}
	var list [][]float64
	sum := 0
	for _, c := range slices.Concat(m.Var, m.Con) {
		if c.Kind != kind {
			continue
		}
		key := fmt.Sprint(c.Powers)
		if _, known := number[key]; !known {
			number[key] = len(list)
			list = append(list, c.Powers)
			sum += len(c.Powers)
		}
	}
	if len(list) > 0 {
		e.printf("\n%s\n%d %d\n", section, len(list), sum)
	}
	for _, powers := range list {
		e.printf("%d\n", len(powers))
		for _, v := range powers {
			e.printf("%v\n", v)
		}
	}
	return number
}

func (e *encoder) cones(section string, cones []Cone, primal, dual map[string]int) {
	if len(cones) == 0 {
		return
	}
	e.printf("\n%s\n%d %d\n", section, total(cones), len(cones))
	for _, c := range cones {
		name := string(c.Kind)
		switch c.Kind {
		case Power:
			name = fmt.Sprintf("@%d:%s", primal[fmt.Sprint(c.Powers)], name)
		case DualPower:
			name = fmt.Sprintf("@%d:%s", dual[fmt.Sprint(c.Powers)], name)
		}
		e.printf("%s %d\n", name, c.Dim)
	}
}

func (e *encoder) orders(section string, orders []int) {
	e.count(section, len(orders))
	for _, n := range orders {
		e.printf("%d\n", n)
	}
}

// check finds what is not a model.
func (m *Model) check() error {
	for _, list := range [][]Cone{m.Var, m.Con} {
		for _, c := range list {
			power := c.Kind == Power || c.Kind == DualPower
			if _, known := kinds[string(c.Kind)]; !known && !power {
				return fmt.Errorf("cbf: unknown cone %q", c.Kind)
			}
			if reason := badDim(c); c.Dim < 0 || reason != "" {
				return fmt.Errorf("cbf: cone %s of dimension %d, expected %s", c.Kind, c.Dim, reason)
			}
			if power && (len(c.Powers) == 0 || badPowers(c.Powers) != "") {
				return fmt.Errorf("cbf: a power cone with the powers %v, expected positive numbers", c.Powers)
			}
		}
	}
	for _, n := range slices.Concat(m.PSDVar, m.PSDCon) {
		if n < 1 {
			return fmt.Errorf("cbf: a matrix of order %d, expected at least 1", n)
		}
	}
	for _, s := range sections {
		if err := s.check(m); err != nil {
			return err
		}
	}
	if !words.Finite(m.Constant) {
		return fmt.Errorf("cbf: the constant is %g", m.Constant)
	}
	return nil
}
