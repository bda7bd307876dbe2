package csvfile_test

import (
	"fmt"
	"os"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/formats/csvfile"
)

func ExampleDecode() {
	t, err := csvfile.Decode("houses.csv", strings.NewReader("rooms,price,area\n4,250,90\n5,310,120\n"), csvfile.Options{Target: "price"})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.Target, t.Y)
	fmt.Println(t.Features, t.X.RawRowView(0), t.X.RawRowView(1))
	// Output:
	// price [250 310]
	// [rooms area] [4 90] [5 120]
}

func ExampleEncode() {
	t := &csvfile.Table{X: mat.NewDense(2, 1, []float64{0.5, 3}), Y: []float64{1, 2}, Features: []string{"x"}, Target: "y"}
	if err := csvfile.Encode(os.Stdout, t); err != nil {
		fmt.Println(err)
	}
	// Output:
	// y,x
	// 1,0.5
	// 2,3
}
