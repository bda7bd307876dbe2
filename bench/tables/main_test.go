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
	require.NoError(t, write(&b, []outcome{{job{"a/b", "y|z", "svm"}, true, "converged"}, {job{"c", "d", "e"}, false, "no row"}}))
	require.Contains(t, b.String(), "1 of 2 are tuned, 50.0 %")
	require.Contains(t, b.String(), "| a/b | y\\|z | svm | converged |\n")
	require.Contains(t, b.String(), "## Refused\n\n| table | target | model | why |\n|---|---|---|---|\n| c | d | e | no row |\n")
}
