package matcomp

import (
	"bytes"
	"slices"
	"testing"

	"github.com/conetune/conetune/internal/readertest"
	"github.com/conetune/conetune/internal/textfile"
)

// FuzzReadEntries: what is read are entries inside of the matrix, none twice, and they are the same when they are
// written and read again.
func FuzzReadEntries(f *testing.F) {
	for _, seed := range []string{"", "row,col,value,set\n0,0,1,train\n1,2,-3.5,val\n2,1,1e3,test\n",
		"set,value,col,row,note\ntrain,1,0,1,\"a,b\"\nval,2,1,1,\n",
		"row,col,value,set\n1048575,1048575,1,train\n", "row,col,value,set\n1048576,0,1,train\n",
		"row,col,value,set\n0,0,1,train\n0,0,1,val\n",
		"row,col,value,set\n0,0,1e154,train\n", "\u00a0row\v,col,\"value\",set\f\n\ufeff\n0,0\u00a0,1,\"train\"\n",
		"row,col,value\n0,-1,1\n", "row,col,value,set\n\"0\n"} {
		f.Add([]byte(seed), true)
		f.Add([]byte(seed), false)
	}
	f.Fuzz(func(t *testing.T, text []byte, withSets bool) {
		d := &Data{}
		var list []Entry
		var sets []string
		if !readertest.Read(t, "f.csv", text, func(s *textfile.Source) (err error) {
			list, sets,
				err = d.readSource(s, withSets)
			return err
		}) {
			return
		}
		again := &Data{}
		for k, e := range list {
			set := []*[]Entry{&d.Train, &d.Val, &d.Test}[k%3]
			if withSets {
				set = map[string]*[]Entry{"train": &d.Train, "val": &d.Val, "test": &d.Test}[sets[k]]
			}
			*set = append(*set, e)
		}
		if len(d.Train) > 0 && len(d.Val) > 0 {
			if err := d.Validate(); err != nil {
				t.Fatal(err)
			}
		}
		var out bytes.Buffer
		if err := d.writeEntries(&out); err != nil {
			t.Fatal(err)
		}
		s, err := textfile.NewSource("again", &out)
		if err != nil {
			t.Fatal(err)
		}
		back, backSets, err := again.readSource(s, true)
		if err != nil {
			t.Fatal(err)
		}
		if again.Rows != d.Rows || again.Cols != d.Cols || len(back) != len(list) {
			t.Fatalf("%d entries of %d x %d became %d of %d x %d", len(list), d.Rows, d.Cols, len(back), again.Rows, again.Cols)
		}
		for k, e := range back {
			at := slices.Index(list, e)
			if at < 0 || withSets && sets[at] != backSets[k] {
				t.Fatalf("%v became another entry", e)
			}
		}
	})
}
