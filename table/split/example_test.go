package split_test

import (
	"fmt"

	"github.com/conetune/conetune/table/split"
)

// Rows of one group stay together.
func ExampleBy_Folds() {
	patient := []int{7, 7, 3, 3, 3, 9}
	folds, err := split.By{Group: patient}.Folds(len(patient), 2, 1, 1, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, fold := range folds {
		fmt.Println(fold.Val)
	}
	// Output:
	// [0 1 5]
	// [2 3 4]
}
