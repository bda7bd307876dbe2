package planted

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/formats/cbf"
)

// kindsOfCBF are the cones that the format has.
var kindsOfCBF = map[backends.ConeKind]cbf.Kind{
	backends.ZeroCone: cbf.Zero, backends.NonnegativeCone: cbf.Nonnegative, backends.SecondOrderCone: cbf.SecondOrder, backends.PSDCone: cbf.PSDVector,
	backends.ExponentialCone: cbf.Exponential, backends.DualExponentialCone: cbf.DualExponential,
	backends.PowerCone: cbf.Power, backends.DualPowerCone: cbf.DualPower,
	backends.GeneralizedPowerCone: cbf.Power, backends.DualGeneralizedPowerCone: cbf.DualPower,
}

// CBF returns the program in the conic benchmark format, and false where that cannot
// hold it: with a quadratic objective or a nuclear norm. The rows of a box become those
// of inequalities and equations.
func (c *Case) CBF() (*cbf.Model, bool) {
	n, _ := c.Dims()
	m := &cbf.Model{Version: 3, Var: []cbf.Cone{{Kind: cbf.Free, Dim: n}}}
	if c.quadratic() {
		return nil, false
	}
	for j, q := range c.Q {
		if q != 0 {
			m.Objective = append(m.Objective, cbf.Coefficient{Index: j, Value: q})
		}
	}
	rows := 0
	add := func(i int, sign, shift float64) { // the row sign (b - Ax) + shift
		for j, a := range c.A[i*n : (i+1)*n] {
			if a != 0 {
				m.A = append(m.A, cbf.Entry{Row: rows, Col: j, Value: -sign * a})
			}
		}
		if b := sign*c.B[i] + shift; b != 0 {
			m.B = append(m.B, cbf.Coefficient{Index: rows, Value: b})
		}
		rows++
	}
	one := func(kind cbf.Kind, i int, sign, shift float64) {
		m.Con = append(m.Con, cbf.Cone{Kind: kind, Dim: 1})
		add(i, sign, shift)
	}
	known := true
	c.each(func(k backends.Cone, from, to int) {
		for i, l := range k.Lower {
			u := k.Upper[i]
			if l == u {
				one(cbf.Zero, from+i, 1, -l)
				continue
			}
			if !math.IsInf(l, 0) {
				one(cbf.Nonnegative, from+i, 1, -l)
			}
			if !math.IsInf(u, 0) {
				one(cbf.Nonnegative, from+i, -1, u)
			}
		}
		if k.Kind == backends.BoxCone {
			return
		}
		kind, ok := kindsOfCBF[k.Kind]
		known = known && ok
		cone := cbf.Cone{Kind: kind, Dim: k.Dim, Powers: k.Weights}
		if k.Alpha != 0 {
			cone.Powers = []float64{k.Alpha, 1 - k.Alpha}
		}
		m.Con = append(m.Con, cone)
		for i := range k.Dim {
			if kind == cbf.Exponential || kind == cbf.DualExponential { // the other way round
				add(to-1-i, 1, 0)
			} else {
				add(from+i, 1, 0)
			}
		}
	})
	return m, known
}

// Save writes the case into the directory: as a Go literal with all that is known about
// it, and as CBF where that can hold it. The names of the files start with name.
func (c *Case) Save(dir, name string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("planted: %w", err)
	}
	path := filepath.Join(dir, strings.NewReplacer(":", "-", " ", "-", "/", "-").Replace(name))
	if err := os.WriteFile(path+".go.txt", []byte(c.GoLiteral()), 0o666); err != nil {
		return fmt.Errorf("planted: %w", err)
	}
	if m, ok := c.CBF(); ok {
		return cbf.Write(path+".cbf", m)
	}
	return nil
}
