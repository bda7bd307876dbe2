package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTable(t *testing.T) {
	const lines = `goos: linux
BenchmarkPython/gpp124-1.dat-s.gz-2 	 12	 46144 ns/op	 3054 iterations	 121.44 mirror-ms	 1.04 mirror/python	 116.8 python-ms	 0.7199 python-setup-ms
PASS
`
	var out strings.Builder
	require.NoError(t, table(strings.NewReader(lines), &out))
	assert.Equal(t, `| | iterations | Python ms | set-up | mirror ms | set-up | Open ms | mirror / Python | Open / Python |
|---|---|---|---|---|---|---|---|---|
| gpp124-1.dat-s | 3054 | 117 | 0.72 | 121 | | | 1.04 | |
`, out.String())
	assert.Error(t, table(strings.NewReader("BenchmarkPython/a-2 1 many ns/op\n"), &out))
	assert.Equal(t, "bare", name("bare"))
}
