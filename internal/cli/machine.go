package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/conetune/conetune/internal/memory"
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

// memoryLimit is the value of --memory. Setting it sets the memory limit of the Go runtime, which is
// the budget of all readers and solvers (package memory) and makes the garbage collector keep to it.
type memoryLimit int64

// Set reads a size, see [memory.Parse].
func (m *memoryLimit) Set(text string) error {
	n, err := memory.Parse(text)
	if err == nil {
		*m = memoryLimit(n)
		debug.SetMemoryLimit(n)
	}
	return err
}

// String is a text that Set reads as the same size, empty where it is 0.
func (m *memoryLimit) String() string {
	text := memory.Format(int64(*m))
	if again, err := memory.Parse(text); err != nil || again != int64(*m) {
		text = strings.TrimPrefix(strconv.FormatInt(int64(*m), 10), "0")
	}
	return text
}

// Type names the kind of value in messages.
func (m *memoryLimit) Type() string { return "size" }

// MemoryFlag is the flag --memory. run takes back what it sets.
func MemoryFlag() Flag {
	return NewFlag("memory", new(memoryLimit), "refuse what would take more than `SIZE` of memory, such as 4GB or 500MB "+
		"(default: half of what the process may use, or GOMEMLIMIT)")
}
