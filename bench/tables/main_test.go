package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestList(t *testing.T) {
	jobs, err := read(targets)
	require.NoError(t, err)
	require.Greater(t, len(jobs), 600)
	require.Contains(t, jobs, job{"datasets/mtcars", "mpg", "elastic-net"})
	require.Contains(t, jobs, job{"MASS/birthwt", "low", "logistic"})
	_, err = read("table,target,model\na,\"b\n")
	require.Error(t, err)
}

func TestWrite(t *testing.T) {
	var b strings.Builder
	require.NoError(t, write(&b, []outcome{{job{"a/b", "y|z", "svm"}, "converged"}, {job{"c", "d", "e"}, "line 2: no, row"}}))
	require.Equal(t, "table,target,model,status\na/b,y|z,svm,converged\nc,d,e,\"line 2: no, row\"\n", b.String())
}
