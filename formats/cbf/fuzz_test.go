package cbf

import (
	"fmt"
	"math"
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/readertest"
)

const head = "VER\n4\nOBJSENSE\nMIN\n"

var format = readertest.Program[Model]{
	Ending: ".cbf", Read: read, Decode: Decode, Open: Read,
	Conic: func(m *Model) (*backends.Problem, error) {
		mustBeInRange(m)
		p, err := m.Conic()
		if err != nil {
			return nil, err
		}
		return p.Problem, nil
	},
	Files: []string{"testdata/small.cbf", "testdata/cones.cbf"},
	Texts: []string{
		head + "VAR\n2147483647 1\nF 2147483647\n", head + "PSDVAR\n1\n2147483647\n", head + "PSDCON\n2\n30000\n30000\n",
		head + "VAR\n100000 1\nGMEANABS 100000\n", head + "VAR\n3 1\nSVECPSD 3\nCON\n2147385345 1\nSVECPSD 2147385345\n",
		head + "POWCONES\n1 3\n3\n1\n2\n1e-300\nVAR\n10 2\n@0:POW 5\n@0:POW 5\nPOW*CONES\n1 2\n2\n1\n1\nCON\n3 1\n@0:POW* 3\n",
		head + "VAR\n1 1\nF 1\nPSDCON\n1\n2\nHCOORD\n1\n0 0 1 0 1e308\nDCOORD\n1\n0 1 0 1.5D0\n",
		head + "\f\nVAR\n1\v1\n\u00a0L+ 1\nOBJACOORD\n1\n0\u00a01\nOBJBCOORD\n-1\n",
	},
}

// mustBeInRange panics where an entry of a model that was read is not one of what the model has.
func mustBeInRange(m *Model) {
	for _, s := range sections {
		limits := m.limits()
		for k, e := range *s.list(m) {
			good := !math.IsNaN(e.Value) && !math.IsInf(e.Value, 0)
			for j, kind := range s.indices {
				i := e.Index
				good = good && i[j] >= 0 && i[j] < limits[kind] && (kind != aColumn || i[j] <= i[j-1])
				if good {
					limits.matrix(m, kind, i[j])
				}
			}
			if !good {
				panic(fmt.Sprintf("entry %d of %s, %v, is out of range or not finite", k, s.keyword, e))
			}
		}
	}
}

func FuzzRead(f *testing.F) { format.Fuzz(f) }
