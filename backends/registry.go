package backends

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Default is the name of the backend that is meant where none is named.
const Default = "native"

// known lists the backends of this project that a build may lack, and how to get them.
var known = map[string]string{
	Default:    `import _ "github.com/conetune/conetune/backends/native"`,
	"clarabel": fromC("clarabel"),
	"highs":    fromC("highs"),
	"osqp":     fromC("osqp"),
	"pdhg":     `import _ "github.com/conetune/conetune/backends/pdhg"`,
	"scs":      fromC("scs"),
}

// fromC says how to get a backend that is a C library.
func fromC(name string) string {
	return fmt.Sprintf("run \"make\" in a checkout of conetune, which builds the C library and the program with it, or "+
		"\"CGO_ENABLED=0 make\", "+
		"which makes Go of the library and needs no C compiler; in a Go program of your own, run \"go run "+
		"github.com/conetune/conetune/cgo/deps\" "+
		"or \"make deps\" in a checkout, import _ \"github.com/conetune/conetune/backends/%s\", and build with cgo and "+
		"-tags %s", name, name)
}

var registry = struct {
	sync.RWMutex
	backends map[string]ConicBackend
}{backends: map[string]ConicBackend{}}

// Register makes a backend available to [Open] under its name. It is meant for
// init functions, and panics on nil, on an empty name and on a name already taken.
func Register(b ConicBackend) {
	if b == nil {
		panic("backends: Register of nil")
	}
	name := b.Name()
	if name == "" {
		panic("backends: Register of a backend without a name")
	}
	registry.Lock()
	defer registry.Unlock()
	if _, taken := registry.backends[name]; taken {
		panic("backends: Register called twice for " + name)
	}
	registry.backends[name] = b
}

// Open returns the backend of that name. Its solvers validate what they are
// given and recheck what they return, as the package comment says.
func Open(name string) (ConicBackend, error) {
	registry.RLock()
	b := registry.backends[name]
	registry.RUnlock()
	if b != nil {
		return Checked(b), nil
	}
	if how, ok := known[name]; ok {
		return nil, fmt.Errorf("backends: this build lacks %q; to get it: %s", name, how)
	}
	return nil, fmt.Errorf("backends: unknown backend %q; known are: %s", name, strings.Join(Known(), ", "))
}

// Names returns the names of the registered backends, sorted.
func Names() []string {
	registry.RLock()
	defer registry.RUnlock()
	return slices.Sorted(maps.Keys(registry.backends))
}

// Known returns the names of all backends of this project and of all
// registered ones, sorted, whether this build has them or not.
func Known() []string {
	names := Names()
	for name := range known {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Missing says how to get a known backend that this build lacks. It returns
// the empty string for a registered or an unknown one.
func Missing(name string) string {
	if slices.Contains(Names(), name) {
		return ""
	}
	return known[name]
}

// supporting returns the registered backends for which ok holds.
func supporting(ok func(Capabilities) bool) []string {
	var names []string
	for _, name := range Names() {
		registry.RLock()
		b := registry.backends[name]
		registry.RUnlock()
		if ok(b.Capabilities()) {
			names = append(names, name)
		}
	}
	return names
}
