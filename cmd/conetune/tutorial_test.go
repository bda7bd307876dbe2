package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

// updateTutorials is set to write what the commands of the tutorials print into the pages; read the difference.
const updateTutorials = "CONETUNE_UPDATE_TUTORIALS"

// shown is a command of a tutorial with the output that the page shows below it.
type shown struct {
	command, output string
	line            int
}

// readTutorial are the commands of a page: in its blocks of the kind console, lines that begin with "$ ", with those
// that follow with "> ". The page is parts of text with an output between each two.
func readTutorial(page string) (commands []shown, parts []string) {
	var part, output strings.Builder
	inside := false
	end := func() {
		if len(commands) > len(parts) {
			commands[len(commands)-1].output = output.String()
			parts = append(parts, part.String())
			part.Reset()
			output.Reset()
		}
	}
	for n, line := range strings.SplitAfter(page, "\n") {
		switch {
		case strings.HasPrefix(line, "```console"):
			inside = true
			part.WriteString(line)
		case inside && strings.HasPrefix(line, "```"):
			inside = false
			end()
			part.WriteString(line)
		case inside && strings.HasPrefix(line, "$ "):
			end()
			commands = append(commands, shown{command: line[2:], line: n + 1})
			part.WriteString(line)
		case inside && strings.HasPrefix(line, "> ") && output.Len() == 0:
			commands[len(commands)-1].command += line[2:]
			part.WriteString(line)
		case inside:
			output.WriteString(line)
		default:
			part.WriteString(line)
		}
	}
	return commands, append(parts, part.String())
}

var (
	tutorialTime   = regexp.MustCompile(`\b\d+(\.\d+)? s\b`)
	tutorialNumber = regexp.MustCompile(`-?\d+(\.\d+)?(e[-+]?\d+)?`)
)

// sameOutput compares what is printed with what is shown, but for times: numbers to a millionth, which is all of those
// with six digits, and on machines with other rounding of products than those that the pages are made on, to a
// thousandth.
func sameOutput(got, want string) bool {
	got, want = tutorialTime.ReplaceAllString(got, "TIME"), tutorialTime.ReplaceAllString(want, "TIME")
	tolerance := 1e-6
	if runtime.GOARCH != "amd64" {
		tolerance = 1e-3
	}
	if tutorialNumber.ReplaceAllString(got, "N") != tutorialNumber.ReplaceAllString(want, "N") {
		return false
	}
	numbers := tutorialNumber.FindAllString(want, -1)
	for k, text := range tutorialNumber.FindAllString(got, -1) {
		x, _ := strconv.ParseFloat(text, 64)
		y, _ := strconv.ParseFloat(numbers[k], 64)
		if math.Abs(x-y) > tolerance*math.Abs(y) {
			return false
		}
	}
	return true
}

// The tutorials are what happens, word for word.
func TestTutorials(t *testing.T) {
	if testing.Short() {
		t.Skip("the commands have tests of their own")
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	if _, err := exec.LookPath("timeout"); err != nil {
		t.Skip("no GNU tools here")
	}
	for _, name := range []string{"tutorial.md", "tutorial-batch.md"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join("..", "..", "docs", name)
			page := readFile(t, path)
			commands, parts := readTutorial(page)
			require.NotEmpty(t, commands)
			dir := t.TempDir()
			tables := must.Of(filepath.Glob(filepath.Join("..", "..", "examples", "rents*.csv")))(t)
			for _, table := range tables {
				write(t, dir, filepath.Base(table), readFile(t, table))
			}
			program := filepath.Join(t.TempDir(), "conetune")
			require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\nexec "+os.Args[0]+` "$@"`+"\n"), 0o777))
			var made bytes.Buffer
			for k, c := range commands {
				cmd := exec.Command(sh, "-c", c.command)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), command+"=1", "LC_ALL=C",
					"PATH="+filepath.Dir(program)+string(os.PathListSeparator)+os.Getenv("PATH"))
				got, err := cmd.CombinedOutput()
				fmt.Fprintf(&made, "%s%s", parts[k], got)
				if os.Getenv(updateTutorials) == "" {
					require.NoError(t, err, "%s, line %d: %s\n%s", name, c.line, c.command, got)
					require.True(t, sameOutput(string(got), c.output),
						"%s, line %d: %s\nprinted:\n%s\nshown:\n%s\n%s=1 writes it to the page", name, c.line, c.command, got, c.output,
						updateTutorials)
				}
			}
			if os.Getenv(updateTutorials) != "" {
				made.WriteString(parts[len(commands)])
				require.NoError(t, os.WriteFile(path, made.Bytes(), 0o666))
			}
		})
	}
}

func TestReadTutorial(t *testing.T) {
	page := "a\n```console\n$ one\n1\n$ two \\\n> more\n2\n3\n```\nb\n```\n$ no\n```\n```console\n$ three\n```\nc\n"
	commands, parts := readTutorial(page)
	require.Equal(t, []shown{{"one\n", "1\n", 3}, {"two \\\nmore\n", "2\n3\n", 5}, {"three\n", "", 15}}, commands)
	require.Equal(t, []string{"a\n```console\n$ one\n", "$ two \\\n> more\n",
		"```\nb\n```\n$ no\n```\n```console\n$ three\n", "```\nc\n"}, parts)
	require.True(t, sameOutput("done, 0.5 s 3\n", "done, 12 s 3\n"))
	require.False(t, sameOutput("done, 0.5 s 3\n", "done, 0.5 s 4\n"))
	require.False(t, sameOutput("0.123457", "0.123456"))
	require.False(t, sameOutput("a 1", "b 1"))
	require.False(t, sameOutput("1 2", "1"))
}
