package table_test

import (
	"fmt"
	"io"
	"strings"

	"github.com/conetune/conetune/table"
)

// A table with row names, a text and gaps becomes numbers, by what is learned from its first three rows.
func Example() {
	text := `"","price","rooms","town"
"a",200,3,"Bern"
"b",310,NA,"Genf"
"c",250,4,"Bern"
"d",180,,"Biel"
`
	file := table.File{Name: "houses.csv", Bytes: io.NewSectionReader(strings.NewReader(text), 0, int64(len(text)))}
	t, err := file.Read(table.Options{})
	if err != nil {
		panic(err)
	}
	design, err := table.Choose(t, table.Wanted{Targets: []string{"price"}})
	if err != nil {
		panic(err)
	}
	for _, f := range design.Findings() {
		fmt.Println(f.Text)
	}
	encoder, err := design.Fit([]int{0, 1, 2})
	if err != nil {
		panic(err)
	}
	reading, err := encoder.Read(t, design.Targets(), false)
	if err != nil {
		panic(err)
	}
	data := reading.Encode([]int{0, 1, 2, 3}, false)
	fmt.Println(data.Features)
	for i := range data.Y {
		_, row := data.Row(i)
		fmt.Println(data.Y[i], row)
	}
	for _, f := range reading.Unseen() {
		fmt.Println(f.Text)
	}
	// Output:
	// column "Unnamed: 0": names or numbers of rows, no feature (Wanted.Labels none takes it all the same)
	// column "town": categories, a feature for each level but the first
	// missing values in column "rooms" (2, lines 3, 5): the median of the training rows is put in their place
	// [rooms rooms=(missing) town=Genf]
	// 200 [3 0 0]
	// 310 [3.5 1 1]
	// 250 [4 0 0]
	// 180 [3.5 1 0]
	// column "town" (1, line 5): levels that the training rows do not have, taken as the reference
}
