package input

import (
	"testing"

	"github.com/conetune/conetune/internal/readertest"
	"github.com/conetune/conetune/internal/textfile"
	"github.com/conetune/conetune/table/split"
)

// FuzzReadFolds: folds that are read are folds of the table.
func FuzzReadFolds(f *testing.F) {
	for _, seed := range []string{"", "fold,row,role\n0,0,train\n0,1,val\n1,1,train\n1,0,val\n",
		"fold,row,role\n9,0,train\n", "fold,row,role\n0,0,train\n0,0,val\n",
		"\"fold\", row ,role\u00a0\n\v\n0,0\f,train\n", "fold,row,role\n-1,0,x\n", "row,fold,role\n",
		"fold,row,role\n\"0\n"} {
		f.Add([]byte(seed), 3)
	}
	f.Fuzz(func(t *testing.T, text []byte, n int) {
		n = max(1, min(n, 1000))
		var folds []split.Fold
		if !readertest.Read(t, "folds.csv", text, func(s *textfile.Source) (err error) {
			folds,
				err = readFoldsSource(s, n)
			return err
		}) {
			return
		}
		if err := split.CheckFolds(folds, n); err != nil {
			t.Fatal(err)
		}
	})
}
