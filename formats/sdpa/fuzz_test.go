package sdpa

import (
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/readertest"
)

var format = readertest.Program[Model]{
	Ending: ".dat-s", Read: read, Decode: Decode, Open: Read,
	Conic: func(m *Model) (*backends.Problem, error) {
		p, err := m.Conic()
		if err != nil {
			return nil, err
		}
		return p.Problem, nil
	},
	Files: []string{"testdata/small.dat-s"},
	Texts: []string{
		"1\n1\n2\n1\n1 1 1 2 1\n1 1 2 1 1\n", "1\n1\n23000\n1\n0 1 1 1 1\n", "1\n1\n-2147483647\n1\n",
		"0\n3\n2147483647 1 -1\n",
		"\"comment\n2 =mDIM\n2 =nBLOCK\n(2, -3)\n{1.0,2.0}\n0 1 1 2 1.5D0\n1 2 3 3 1e308\n1 2 3 3 1e308\n",
		"1\n\f1\n\u00a02\v\n1\n\ufeff\n1 1 1 1\u00a01\n", "2147483647\n1\n1\n1\n",
	},
}

func FuzzRead(f *testing.F) { format.Fuzz(f) }
