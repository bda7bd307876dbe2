package cbf

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/conetune/conetune/formats/textfile"
	"github.com/conetune/conetune/internal/readertest"
)

// FuzzRead: what is read is a valid program, or one that is too large, and is the same after it was written and read again.
func FuzzRead(f *testing.F) {
	readertest.Seeds(f, files, texts...)
	rng := rand.New(rand.NewPCG(7, 7))
	for range 3 {
		var text bytes.Buffer
		if err := Encode(&text, random(rng)); err != nil {
			f.Fatal(err)
		}
		f.Add(text.Bytes())
	}
	f.Fuzz(func(t *testing.T, text []byte) { check(t, text) })
}

// TestMutations asks the same of texts made of whole lines and words.
func TestMutations(t *testing.T) {
	words := []string{"VER", "OBJSENSE", "MIN", "MAX", "VAR", "CON", "PSDVAR", "PSDCON", "POWCONES", "POW*CONES", "OBJFCOORD", "OBJACOORD", "OBJBCOORD", "FCOORD", "ACOORD", "BCOORD", "HCOORD", "DCOORD",
		"INT", "F", "L+", "L-", "L=", "Q", "QR", "EXP", "EXP*", "SVECPSD", "GMEANABS", "GMEANABS*", "@0:POW", "@0:POW*", "@1:POW", "4", "5", "6"}
	readertest.Mutations(readertest.Texts(t, files, texts), words, readertest.Count(), func(text []byte) bool { return check(t, text) })
}

const head = "VER\n4\nOBJSENSE\nMIN\n"

var (
	files = []string{"testdata/small.cbf", "testdata/cones.cbf"}
	texts = []string{
		head + "VAR\n2147483647 1\nF 2147483647\n", head + "PSDVAR\n1\n2147483647\n", head + "PSDCON\n2\n30000\n30000\n",
		head + "VAR\n100000 1\nGMEANABS 100000\n", head + "VAR\n3 1\nSVECPSD 3\nCON\n2147385345 1\nSVECPSD 2147385345\n",
		head + "POWCONES\n1 3\n3\n1\n2\n1e-300\nVAR\n10 2\n@0:POW 5\n@0:POW 5\nPOW*CONES\n1 2\n2\n1\n1\nCON\n3 1\n@0:POW* 3\n",
		head + "VAR\n1 1\nF 1\nPSDCON\n1\n2\nHCOORD\n1\n0 0 1 0 1e308\nDCOORD\n1\n0 1 0 1.5D0\n",
		head + "\f\nVAR\n1\v1\n\u00a0L+ 1\nOBJACOORD\n1\n0\u00a01\nOBJBCOORD\n-1\n",
	}
)

func check(t *testing.T, text []byte) bool {
	var m *Model
	ok := readertest.Read(t, "fuzz.cbf", text, func(s *textfile.Source) (err error) {
		if m, err = ReadSource(s); err != nil {
			return err
		}
		if p, err := m.Conic(); err == nil {
			if err := p.Problem.Validate(); err != nil {
				t.Fatal(err)
			}
		}
		return nil
	})
	if !ok {
		return false
	}
	var out bytes.Buffer
	if err := Encode(&out, m); err != nil {
		t.Fatal(err)
	}
	again, err := Decode("again.cbf", &out)
	if err != nil {
		t.Fatal(err)
	}
	again.Version = m.Version
	if fmt.Sprint(m) != fmt.Sprint(again) {
		t.Fatal("the round trip changes the model")
	}
	return true
}
