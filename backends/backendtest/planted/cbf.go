package planted

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/formats/cbf"
)

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
	known := true
	c.each(func(k backends.Cone, from, to int) {
		if k.Kind == backends.BoxCone {
			for i := from; i < to; i++ {
				l, u := k.Lower[i-from], k.Upper[i-from]
				if l == u {
					m.Con = append(m.Con, cbf.Cone{Kind: cbf.Zero, Dim: 1})
					add(i, 1, -l)
					continue
				}
				if l-l == 0 { // finite
					m.Con = append(m.Con, cbf.Cone{Kind: cbf.Nonnegative, Dim: 1})
					add(i, 1, -l)
				}
				if u-u == 0 {
					m.Con = append(m.Con, cbf.Cone{Kind: cbf.Nonnegative, Dim: 1})
					add(i, -1, u)
				}
			}
			return
		}
		cone, reversed := cbf.Cone{Dim: k.Dim}, false
		switch k.Kind {
		case backends.ZeroCone:
			cone.Kind = cbf.Zero
		case backends.NonnegativeCone:
			cone.Kind = cbf.Nonnegative
		case backends.SecondOrderCone:
			cone.Kind = cbf.SecondOrder
		case backends.PSDCone:
			cone.Kind = cbf.PSDVector
		case backends.ExponentialCone:
			cone.Kind, reversed = cbf.Exponential, true
		case backends.DualExponentialCone:
			cone.Kind, reversed = cbf.DualExponential, true
		case backends.PowerCone:
			cone.Kind, cone.Powers = cbf.Power, []float64{k.Alpha, 1 - k.Alpha}
		case backends.DualPowerCone:
			cone.Kind, cone.Powers = cbf.DualPower, []float64{k.Alpha, 1 - k.Alpha}
		case backends.GeneralizedPowerCone:
			cone.Kind, cone.Powers = cbf.Power, k.Weights
		case backends.DualGeneralizedPowerCone:
			cone.Kind, cone.Powers = cbf.DualPower, k.Weights
		default:
			known = false
		}
		m.Con = append(m.Con, cone)
		for i := range k.Dim {
			if reversed {
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
