package dataset

import (
	"bytes"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/conetune/conetune/formats"
	"github.com/conetune/conetune/internal/readertest"
	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/table/split"
)

// FuzzRead: a table that is read, and one that is read like it, are valid sets of a split, of numbers that can be
// squared and added up; and the table is the same after it was written and read again.
func FuzzRead(f *testing.F) {
	tables := []string{"y,a\n1,2\n3,4\n", "a,y\n1,2\n", "1 1:2 3:4\n-1 2:1\n", "1 3:1\n", "0 1:1e71\n", "y,a\n1e154,0\n", "b,a\n1,2\n", "y,\"a,\"\n1,\"2\"\n",
		"1 20000000:1\n1 1:1\n", "\f\n\u00a0\n1\v1:2\n", "\u00a0y,a\n\v\n1\f,2\n", "# c\n1 1:1\n", "", "\x1f\x8b\x08\x00", "x\n", "1\n2\n"}
	for k, text := range tables {
		f.Add([]byte(text), []byte(tables[(k+1)%len(tables)]), "")
		f.Add([]byte(text), []byte(text), "a")
	}
	long := strings.Repeat("\xec", 9000)
	f.Add([]byte("1 1:1\n"), []byte("1\n"), long)
	f.Add([]byte(long+",a\n1,2\n"), []byte("y,"+long+"\n1,2\n"), "")
	f.Fuzz(func(t *testing.T, train, val []byte, target string) {
		var d, v *Data
		read := func(s *textfile.Source) error {
			table, err := formats.ReadTableSource(s, formats.Options{Target: target})
			d = FromTable(table)
			return err
		}
		if !readertest.Read(t, "train", train, read) {
			return
		}
		if err := d.Validate(); err != nil {
			t.Fatal(err)
		}
		for i, y := range d.Y {
			_, row := d.Row(i)
			for _, x := range append(slices.Clone(row), y) {
				if math.IsInf(x*x*x*x, 0) || math.IsNaN(x) || x > textfile.LargestEntry || x < -textfile.LargestEntry {
					t.Fatalf("%g accepted", x)
				}
			}
		}
		if readertest.Read(t, "val", val, func(s *textfile.Source) (err error) { v, err = readLike(s, d); return err }) {
			if err := (&Split{Train: d, Val: v}).Validate(); err != nil {
				t.Fatal(err)
			}
		}
		var out bytes.Buffer
		if d.encodeCSV(&out) != nil {
			return // names that CSV cannot hold
		}
		s, err := textfile.NewSource("again.csv", &out)
		if err != nil {
			t.Fatal(err)
		}
		again, err := formats.ReadTableSource(s, formats.Options{Target: d.Target})
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(d, FromTable(again)) {
			t.Fatal("the round trip changes the table")
		}
	})
}

// FuzzReadFolds: folds that are read are folds of the table, and the same after they were written and read again.
func FuzzReadFolds(f *testing.F) {
	for _, seed := range []string{"", "fold,row,role\n0,0,train\n0,1,val\n1,1,train\n1,0,val\n", "fold,row,role\n9,0,train\n", "fold,row,role\n0,0,train\n0,0,val\n",
		"\"fold\", row ,role\u00a0\n\v\n0,0\f,train\n", "fold,row,role\n-1,0,x\n", "row,fold,role\n", "fold,row,role\n\"0\n"} {
		f.Add([]byte(seed), 3)
	}
	f.Fuzz(func(t *testing.T, text []byte, n int) {
		n = max(1, min(n, 1000))
		var folds []split.Fold
		if !readertest.Read(t, "folds.csv", text, func(s *textfile.Source) (err error) { folds, err = readFoldsSource(s, n); return err }) {
			return
		}
		if err := split.CheckFolds(folds, n); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := encodeFolds(&out, folds); err != nil {
			t.Fatal(err)
		}
		s, err := textfile.NewSource("again", &out)
		if err != nil {
			t.Fatal(err)
		}
		again, err := readFoldsSource(s, n)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(folds, again) {
			t.Fatalf("%v became %v", folds, again)
		}
	})
}
