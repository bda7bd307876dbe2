package dataset_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/conetune/conetune/problems/dataset"
)

func ExampleSplitRows() {
	all, _, err := dataset.Generate(dataset.Config{Train: 99, Val: 1, Features: 10}, 1)
	check(err)
	s, err := dataset.SplitRows(all.Train, "50%/25/rest", 1)
	check(err)
	fmt.Println(len(s.Train.Y), len(s.Val.Y), len(s.Test.Y))
	// Output: 50 25 24
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func ExampleGenerate() {
	config, err := dataset.InSets.Preset("100-20-250-p250")
	check(err)
	s, coefficients, err := dataset.Generate(config, 1)
	check(err)
	nonzero := 0
	for _, b := range coefficients {
		if b != 0 {
			nonzero++
		}
	}
	n, p := s.Train.Dims()
	fmt.Println(n, p, strings.Join(s.Train.Features[:3], " "), nonzero)
	// Output: 100 250 x1 x2 x3 15
}
