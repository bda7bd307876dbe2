package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// Release is the version that the source tree leads to.
const Release = "0.1.0"

// Version returns the version of the program, with the revision where the build
// knows it.
func Version() string {
	v := Release
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			v += "+" + s.Value[:12]
		}
	}
	return v
}

// Machine describes where the program runs.
func Machine() string {
	return fmt.Sprintf("%s/%s, %d processors, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
}
