package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// release is the version that the source tree leads to.
const release = "0.1.0"

// version returns the version of the program, with the revision where the build
// knows it.
func version() string {
	v := release
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

// machine describes where the program runs.
func machine() string {
	return fmt.Sprintf("%s/%s, %d processors, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
}
