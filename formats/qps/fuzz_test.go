package qps

import (
	"testing"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/readertest"
)

var format = readertest.Program[Model]{
	Ending: ".qps", Read: read, Decode: Decode, Open: Read,
	Conic: func(m *Model) (*backends.Problem, error) { return m.Conic().Problem, nil },
	Files: []string{"testdata/small.qps", "testdata/fixed.mps"},
	Texts: []string{
		one("E", "RHS\n r 1e30\nRANGES\n r -2\nBOUNDS\n MI x\n UP x -3\nQMATRIX\n x y 1\n y x 1\n"),
		one("G", "RHS\n c 7\n r inf\nBOUNDS\n BV x\n"), one("L", "RANGES\n r 1e19\nQSECTION c\n x x 1d0\n x x -1\n"),
		"ROWS\n N c\nCOLUMNS\n M 'MARKER' 'INTORG'\nENDATA",
		"NAME a b\nOBJSENSE MAX\nOBJNAME\n d\nROWS\n N c\n N d\nCOLUMNS\n x d 1 c 2\nENDATA\n",
		"ROWS\n\f\n\v N c\n\u00a0L r\n\ufeff\nCOLUMNS\n x\u00a0c\v1\nENDATA\n", "\u00a0\nROWS\n",
		"ROWS\n N c\nCOLUMNS\n x c 1e999\nENDATA\n",
	},
}

func FuzzRead(f *testing.F) { format.Fuzz(f) }
