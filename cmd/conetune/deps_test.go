package main

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The first command of the README compiles all that it links: without build tags it links no network, and no more packages than this.
func TestPackagesOfFirstCommand(t *testing.T) {
	const most = 330
	out, err := exec.Command("go", "list", "-deps", "-tags=", ".").Output()
	if err != nil {
		t.Skip("no go command here:", err)
	}
	packages := strings.Fields(string(out))
	require.NotContains(t, packages, "net/http")
	require.NotContains(t, packages, "crypto/tls")
	require.LessOrEqual(t, len(packages), most)
}
