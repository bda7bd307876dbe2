package multinomial_test

import (
	"context"
	"fmt"

	_ "github.com/conetune/conetune/backends/native"
	"github.com/conetune/conetune/problems/multinomial"
	"github.com/conetune/conetune/tune"
)

// Three classes, which two of six features tell apart.
func Example() {
	model, err := multinomial.New(sample(3, 60), multinomial.Options{Intercept: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := tune.VFiDCA(context.Background(), model, tune.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	values := res.RefitFit.Values([]float64{2, 0, 0, 0, 0, 0})
	best := 0
	for k, v := range values {
		if v > values[best] {
			best = k
		}
	}
	fmt.Println(res.Status, res.RefitFit.Labels, res.RefitFit.Targets[best])
	// Output: converged [3 5 8] 8
}
