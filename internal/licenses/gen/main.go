// Command gen collects the licence texts of package licenses: those of the modules that are linked into conetune on
// Linux, macOS and Windows, with and without the C solvers, as they are and made Go, from the module cache, and those
// of the C libraries from cgo/build/licenses. It runs in the folder of the module.
package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/conetune/conetune/internal/licenses"
)

func main() {
	if err := generate("internal/licenses"); err != nil {
		fmt.Fprintln(os.Stderr, "licenses/gen:", err)
		os.Exit(1)
	}
}

// builds are the systems and tags of the programs that are given away.
var builds = []struct{ system, tags string }{{"linux", ""}, {"linux", "scs,osqp,clarabel,highs"}, {"darwin", ""},
	{"darwin", "scs,osqp,clarabel,highs"}, {"windows", ""}, {"js", ""},
	{"linux", madeGo}, {"darwin", madeGo}, {"windows", madeGo}}

// madeGo are the tags of the C solvers made Go, which need no cgo.
const madeGo = "scs_go,osqp_go"

// module is a module as go list tells it.
type module struct{ Path, Version, Dir string }

// listed has a line with a module for each package but those of the standard library and our own.
const listed = `{{with .Module}}{{if not .Main}}{{.Path}}{{"\t"}}{{.Version}}{{"\t"}}{{.Dir}}{{end}}{{end}}`

// text is a licence under its heading.
type text struct{ name, body string }

func generate(out string) error {
	own, err := os.ReadFile("LICENSE")
	if err != nil {
		return err
	}
	if err := write(filepath.Join(out, "own.txt"), []text{{"conetune", string(own)}}); err != nil {
		return err
	}
	modules, err := linked()
	if err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	golang, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "LICENSE"))
	if err != nil {
		return err
	}
	texts := []text{{"Go, runtime and standard library", string(golang)}}
	for _, m := range modules {
		found, err := ofModule(m)
		if err != nil {
			return err
		}
		texts = append(texts, found...)
	}
	if err := write(filepath.Join(out, "go.txt"), texts); err != nil {
		return err
	}
	return libraries(out)
}

// linked lists the modules of all packages in any of the builds, by path.
func linked() ([]module, error) {
	have := map[string]module{}
	for _, b := range builds {
		cmd := exec.Command("go", "list", "-deps", "-tags", "parquet,"+b.tags, "-f", listed, "./cmd/conetune")
		cmd.Env = append(os.Environ(), "GOOS="+b.system, "CGO_ENABLED="+map[bool]string{true: "1",
			false: "0"}[b.tags == "scs,osqp"])
		if b.system == "js" {
			cmd.Env = append(cmd.Env, "GOARCH=wasm")
		}
		cmd.Stderr = os.Stderr
		list, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", b.system, err)
		}
		for line := range strings.Lines(string(list)) {
			if cells := strings.Split(strings.TrimSpace(line), "\t"); len(cells) == 3 {
				have[cells[0]] = module{cells[0], cells[1], cells[2]}
			}
		}
	}
	return slices.SortedFunc(maps.Values(have), func(a, b module) int { return strings.Compare(a.Path, b.Path) }), nil
}

// licenceName are the names under which modules keep their texts.
var licenceName = regexp.MustCompile(`(?i)^((un)?licen[cs]e|copying|notice|third.?party.*)([.-].*)?$`)

// ofModule are the texts in the top folder of a module and in a folder of licences there.
func ofModule(m module) ([]text, error) {
	var texts []text
	for _, dir := range []string{".", "LICENSES", "THIRD_PARTY_LICENSES", "licenses"} {
		entries, err := os.ReadDir(filepath.Join(m.Dir, dir))
		if err != nil && dir == "." {
			return nil, err
		}
		for _, e := range entries {
			if !e.Type().IsRegular() || dir == "." && !licenceName.MatchString(e.Name()) {
				continue
			}
			body, err := os.ReadFile(filepath.Join(m.Dir, dir, e.Name()))
			if err != nil {
				return nil, err
			}
			texts = append(texts, text{fmt.Sprintf("%s %s, %s", m.Path, m.Version,
				filepath.ToSlash(filepath.Join(dir, e.Name()))), string(body)})
		}
	}
	if len(texts) == 0 {
		return nil, fmt.Errorf("%s %s has no licence in %s", m.Path, m.Version, m.Dir)
	}
	return texts, nil
}

// libraries are the texts of the C libraries, which make deps leaves in cgo/build. AMD and QDLDL are in both solvers.
func libraries(out string) error {
	for name, files := range map[string][]string{
		"highs": {"HiGHS.txt", "HiGHS-parts.txt", "HiGHS-amd.txt", "HiGHS-metis.txt", "HiGHS-pdqsort.txt",
			"HiGHS-rcm.txt"},
		"scs":      {"SCS.txt", "SCS-qdldl.txt", "SCS-amd.txt"},
		"openblas": {"OpenBLAS.txt"},
		"clarabel": {"Clarabel.txt", "Clarabel-crates.txt"},
		"osqp":     {"OSQP.txt", "OSQP-NOTICE.txt", "OSQP-qdldl.txt", "OSQP-amd.txt"},
	} {
		var texts []text
		for _, f := range files {
			body, err := os.ReadFile(filepath.Join("cgo", "build", "licenses", f))
			if err != nil {
				return fmt.Errorf("%w: run make deps first", err)
			}
			texts = append(texts, text{"C library: " + strings.TrimSuffix(f, ".txt"), string(body)})
		}
		if err := write(filepath.Join(out, name+".txt"), texts); err != nil {
			return err
		}
	}
	return nil
}

// write writes texts under their headings, without blanks at the ends of lines.
func write(path string, texts []text) error {
	var b strings.Builder
	for i, t := range texts {
		if i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(licenses.Heading + t.name + "\n\n")
		for line := range strings.Lines(strings.Trim(t.body, "\r\n") + "\n") {
			b.WriteString(strings.TrimRight(line, " \t\r\n") + "\n")
		}
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
