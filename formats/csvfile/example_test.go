package csvfile_test

import (
	"fmt"
	"os"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/conetune/conetune/formats/csvfile"
	"github.com/conetune/conetune/internal/textfile"
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

func ExampleReadCompactSource() {
	s, err := textfile.NewSource("words.csv", strings.NewReader("y,a,b,c,d,e,f,g,h\n1,0,0,3,0,0,0,0,0\n2,0,0,0,0,0,0,4,0\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	t, err := csvfile.ReadCompactSource(s, csvfile.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.X == nil, t.Rows.RowStart, t.Rows.Index, t.Rows.Value)
	// Output:
	// true [0 1 2] [2 6] [3 4]
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
