package lp_test

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/conetune/conetune/formats/lp"
)

func ExampleDecode() {
	m, err := lp.Decode("two.lp", strings.NewReader("Maximize\n x + 2 y\nSubject To\n both: x + y <= 4\nEnd\n"))
	if err != nil {
		panic(err)
	}
	if err := lp.Encode(os.Stdout, m); err != nil {
		panic(err)
	}
	_, err = lp.Read("no such file.lp")
	fmt.Println(errors.Is(err, os.ErrNotExist))
	// Output:
	// Maximize
	//  obj:
	//  + 1 x
	//  + 2 y
	// Subject To
	//  both:
	//  + 1 x
	//  + 1 y
	//  <= 4
	// Bounds
	//  0 <= x <= +inf
	//  0 <= y <= +inf
	// End
	// true
}
