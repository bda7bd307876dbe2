// Command markdown makes the tables of docs/c-libraries.md of what the benchmarks beside Python print:
//
//	go test -tags highs -run '^$' -bench Python -benchtime 4s ./backends/highs | go run ./backends/internal/sidebyside/markdown
package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

func main() {
	if err := table(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "markdown:", err)
		os.Exit(1)
	}
}

// columns are the metrics of a table, with their heads.
var columns = []struct{ metric, head string }{
	{"iterations", "iterations"},
	{"python-ms", "Python ms"}, {"python-setup-ms", "set-up"},
	{"mirror-ms", "mirror ms"}, {"mirror-setup-ms", "set-up"},
	{"open-ms", "Open ms"},
	{"mirror/python", "mirror / Python"}, {"open/python", "Open / Python"},
}

// table reads lines of benchmarks and writes one row for each; metrics that a line lacks are left empty.
func table(from io.Reader, to io.Writer) error {
	w := bufio.NewWriter(to)
	fmt.Fprint(w, "| |")
	for _, c := range columns {
		fmt.Fprintf(w, " %s |", c.head)
	}
	fmt.Fprintf(w, "\n|%s\n", strings.Repeat("---|", len(columns)+1))
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		found := map[string]float64{}
		for k := 2; k+1 < len(f); k += 2 {
			v, err := strconv.ParseFloat(f[k], 64)
			if err != nil {
				return fmt.Errorf("%q: %w", lines.Text(), err)
			}
			found[f[k+1]] = v
		}
		fmt.Fprintf(w, "| %s |", name(f[0]))
		for _, c := range columns {
			v, ok := found[c.metric]
			switch {
			case !ok:
				fmt.Fprint(w, " |")
			case strings.HasSuffix(c.metric, "-ms"):
				fmt.Fprintf(w, " %s |", strconv.FormatFloat(v, 'g', 3, 64))
			case strings.Contains(c.metric, "/"):
				fmt.Fprintf(w, " %.2f |", v)
			default:
				fmt.Fprintf(w, " %.0f |", v)
			}
		}
		fmt.Fprintln(w)
	}
	if err := lines.Err(); err != nil {
		return err
	}
	return w.Flush()
}

// name is that of the file: what comes after the last slash, without the number of processors and .gz.
func name(benchmark string) string {
	benchmark = benchmark[strings.LastIndexByte(benchmark, '/')+1:]
	if i := strings.LastIndexByte(benchmark, '-'); i > 0 {
		if _, err := strconv.Atoi(benchmark[i+1:]); err == nil {
			benchmark = benchmark[:i]
		}
	}
	return strings.TrimSuffix(benchmark, ".gz")
}
