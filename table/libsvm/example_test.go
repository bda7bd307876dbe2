package libsvm_test

import (
	"fmt"
	"strings"

	"github.com/conetune/conetune/table/libsvm"
)

func ExampleDecode() {
	m, err := libsvm.Decode("data", strings.NewReader("+1 1:0.5 3:2\n-1 2:7\n"), libsvm.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, label := range m.Labels {
		row := m.Index[m.RowStart[i]:m.RowStart[i+1]]
		fmt.Println(label, row, m.Value[m.RowStart[i]:m.RowStart[i+1]])
	}
	// Output:
	// 1 [0 2] [0.5 2]
	// -1 [1] [7]
}
