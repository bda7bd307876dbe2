package sdpa_test

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/conetune/conetune/formats/sdpa"
)

func Example() {
	// minimise x1 + x2 subject to [x1 1; 1 x2] >= 0
	m, err := sdpa.Decode("two.dat-s", strings.NewReader("2\n1\n2\n1 1\n0 1 1 2 -1\n1 1 1 1 1\n2 1 2 2 1\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	p, err := m.Conic()
	if err != nil {
		fmt.Println(err)
		return
	}
	n, rows := p.Problem.Dims()
	fmt.Println(n, "variables,", rows, "rows, cone", p.Problem.Cones[0].Kind)
	fmt.Printf("b = %.3f\n", p.Problem.B)
	_, err = sdpa.Read("no such file.dat-s")
	fmt.Println(errors.Is(err, os.ErrNotExist))
	// Output:
	// 2 variables, 3 rows, cone psd
	// b = [0.000 1.414 0.000]
	// true
}
