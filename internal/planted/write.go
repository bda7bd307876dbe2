package planted

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/conetune/conetune/backends"
)

// GoLiteral returns the program as a Go expression of type *backends.Problem in the
// notation of package backendtest, with what is known about it in comments.
func (c *Case) GoLiteral() string {
	n, m := c.Dims()
	var b strings.Builder
	fmt.Fprintf(&b, "// %s: %v", c.ID, c.Class)
	if c.Class == Optimal {
		fmt.Fprintf(&b, ", value %v", c.Value)
	}
	b.WriteString("\n")
	for _, v := range []struct {
		name string
		v    []float64
	}{{"x", c.X}, {"s", c.S}, {"dual x", c.DualX}, {"z", c.Z}, {"certificate", c.Farkas}, {"ray", c.Ray}} {
		if v.v != nil {
			fmt.Fprintf(&b, "// %s = {%s}\n", v.name, numbers(v.v))
		}
	}
	b.WriteString("&backends.Problem{\n")
	if c.P != nil {
		fmt.Fprintf(&b, "\tP: upper(%s),\n", rows(c.P))
	}
	fmt.Fprintf(&b, "\tQ: []float64{%s},\n", numbers(c.Q))
	if m > 0 {
		fmt.Fprintf(&b, "\tA: matrix(%d, %s),\n\tB: []float64{%s},\n", n, rows(c.A), numbers(c.B))
		var cones []string
		for _, k := range c.Cones {
			cones = append(cones, coneLiteral(k))
		}
		fmt.Fprintf(&b, "\tCones: []backends.Cone{%s},\n", strings.Join(cones, ", "))
	}
	b.WriteString("}\n")
	return b.String()
}

// constructors are those of the kinds, in their order.
var constructors = [...]string{
	backends.ZeroCone: "Zero", backends.NonnegativeCone: "Nonnegative", backends.BoxCone: "Box",
	backends.SecondOrderCone: "SecondOrder", backends.PSDCone: "PSD",
	backends.ExponentialCone: "Exponential", backends.DualExponentialCone: "DualExponential",
	backends.PowerCone: "Power", backends.DualPowerCone: "DualPower", backends.NuclearNormCone: "NuclearNorm",
	backends.GeneralizedPowerCone: "GeneralizedPower", backends.DualGeneralizedPowerCone: "DualGeneralizedPower",
}

func coneLiteral(k backends.Cone) string {
	arguments := strconv.Itoa(k.Dim)
	switch {
	case k.Kind == backends.BoxCone:
		arguments = fmt.Sprintf("[]float64{%s}, []float64{%s}", numbers(k.Lower), numbers(k.Upper))
	case k.Kind == backends.PSDCone:
		arguments = strconv.Itoa(backends.PSDOrder(k.Dim))
	case k.Kind == backends.ExponentialCone || k.Kind == backends.DualExponentialCone:
		arguments = ""
	case k.Alpha != 0:
		arguments = number(k.Alpha)
	case k.Weights != nil:
		arguments = fmt.Sprintf("[]float64{%s}, %d", numbers(k.Weights), k.Dim-len(k.Weights))
	case k.Kind == backends.NuclearNormCone:
		arguments = fmt.Sprintf("%d, %d", k.Rows, k.Cols)
	}
	return "backends." + constructors[k.Kind] + "(" + arguments + ")"
}

func rows(a [][]float64) string {
	var out []string
	for _, row := range a {
		out = append(out, "[]float64{"+numbers(row)+"}")
	}
	return strings.Join(out, ", ")
}

func numbers(v []float64) string {
	out := make([]string, len(v))
	for i, x := range v {
		out[i] = number(x)
	}
	return strings.Join(out, ", ")
}

func number(x float64) string {
	switch {
	case x == 0:
		return "0"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// Save writes GoLiteral into a file of the directory, whose name starts with name.
func (c *Case) Save(dir, name string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("planted: %w", err)
	}
	path := filepath.Join(dir, strings.NewReplacer(":", "-", " ", "-", "/", "-").Replace(name)+".go.txt")
	if err := os.WriteFile(path, []byte(c.GoLiteral()), 0o666); err != nil {
		return fmt.Errorf("planted: %w", err)
	}
	return nil
}
