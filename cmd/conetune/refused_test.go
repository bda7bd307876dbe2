package main

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
)

// Each mistake of testdata/refused.txt, which says its form, gives exit status 2 and one line that says what is wrong,
// prints nothing and leaves no trace in the file system.
func TestRefused(t *testing.T) {
	script := readFile(t, "testdata/refused.txt")
	small := readFile(t, solvedFile("qps", "small.qps"))
	t.Chdir(t.TempDir())
	write(t, ".", "small.qps", small)
	cases, values := 0, map[string][]string{}
	for line := range strings.Lines(script) {
		verb, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch verb {
		case "", "#":
		case "folder":
			require.NoError(t, os.Mkdir(rest, 0o700))
		case "file":
			name, source, _ := strings.Cut(rest, " = ")
			write(t, ".", name, refusedFile(t, source))
		case "values":
			name, list, _ := strings.Cut(rest, " = ")
			for _, v := range strings.Fields(list) {
				if of, known := values[v]; known {
					values[name] = append(values[name], of...)
				} else {
					values[name] = append(values[name], v)
				}
			}
		case "conetune":
			command, want, found := strings.Cut(rest, " => ")
			require.True(t, found, line)
			list := []string{command}
			if before, after, several := strings.Cut(command, "{"); several {
				name, after, _ := strings.Cut(after, "}")
				require.NotEmpty(t, values[name], line)
				list = nil
				for _, v := range values[name] {
					list = append(list, before+v+after)
				}
			}
			for _, command := range list {
				t.Run(command, func(t *testing.T) {
					refuse(t, strings.Fields(strings.ReplaceAll(command, `""`, "\x01")), strings.Split(want, " | ")...)
				})
				cases++
			}
		default:
			require.Fail(t, line)
		}
	}
	require.Greater(t, cases, 700)
}

// refuse runs a command line that is refused for what is said. What tune would write must not appear.
func refuse(t *testing.T, args []string, want ...string) {
	t.Helper()
	for k := range args {
		args[k] = strings.ReplaceAll(args[k], "\x01", "")
	}
	line := strings.Join(args, " ")
	if len(args) > 1 && args[0] == "tune" {
		for flag, file := range map[string]string{"--trace": "out.jsonl", "--save": "out.json", "--plot": "out.png"} {
			if !strings.Contains(line, flag) {
				args = append(args, flag, file)
			}
		}
	}
	before := contents(t, ".")
	o := conetune(t, args...)
	require.Equal(t, cli.ExitUsage, o.code, "%s\n%s", line, o.stderr)
	require.Empty(t, o.stdout, line)
	require.True(t, strings.HasPrefix(o.stderr, "conetune: "), o.stderr)
	require.Equal(t, 1, strings.Count(o.stderr, "\n"), "%s is not refused in one line: %s", line, o.stderr)
	for _, text := range want {
		require.Contains(t, o.stderr, text, line)
	}
	require.Equal(t, before, contents(t, "."), "something was written by %s", line)
}

// refusedFile is the text of a source with its edits.
func refusedFile(t *testing.T, source string) string {
	t.Helper()
	steps := strings.Split(source, "; ")
	words := append(strings.Fields(steps[0]), "0", "0", "0")
	number := func(k int) int {
		n, err := strconv.Atoi(words[k])
		require.NoError(t, err, source)
		return n
	}
	quoted := func(text string) string {
		out, err := strconv.Unquote(text)
		require.NoError(t, err, source)
		return out
	}
	var text string
	switch {
	case strings.HasPrefix(source, `"`):
		return quoted(source)
	case words[0] == "regression":
		text = csvText(uint64(number(1)), number(2), number(3))
	case words[0] == "labels":
		text = labelled(uint64(number(1)), number(2), number(3))
	case words[0] == "cars":
		text = cars(number(1))
	case words[0] == "flowers":
		text = flowersText(number(1))
	case words[0] == "household":
		text = householdText(number(1))
	case words[0] == "ratings":
		text = ratings(uint64(number(1)), number(2), number(3))
	case words[0] == "weighted":
		text, _ = weightedText(uint64(number(1)), number(2))
	case words[0] == "times":
		text = eventsText()
	case words[0] == "wards":
		text = wards
	default:
		text = readFile(t, words[0])
	}
	for _, step := range steps[1:] {
		verb, rest, _ := strings.Cut(step, " ")
		lines := strings.SplitAfter(text, "\n")
		switch verb {
		case "line":
			n, line, _ := strings.Cut(rest, " ")
			words[0] = n
			lines[number(0)-1] = line + "\n"
		case "head":
			words[0] = rest
			lines = lines[:number(0)]
		case "again":
			words[0] = rest
			lines = append(lines, lines[number(0)-1])
		case "add":
			lines = append(lines, quoted(rest))
		case "label":
			list := strings.Fields(rest)
			for i := 1; i < len(lines)-1; i++ {
				_, cells, _ := strings.Cut(lines[i], ",")
				label := list[min(i, len(list))-1]
				if n := len(list) - 1; list[n] == ".." {
					label = list[(i-1)%n]
				}
				lines[i] = label + "," + cells
			}
		case "for":
			a, b, _ := strings.Cut(rest, " = ")
			lines = []string{strings.ReplaceAll(text, quoted(`"`+a+`"`), quoted(`"`+b+`"`))}
		}
		text = strings.Join(lines, "")
	}
	return text
}
