package libsvm

import (
	"bytes"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/conetune/conetune/internal/textfile"
)

// Names are the names x1, x2, .. of the p features of a file without names.
func Names(p int) []string { return NamesFrom(1, p) }

// CountFromZero says whether names are x0, x1, .., those of a LIBSVM file whose indices count from 0.
func CountFromZero(names []string) bool {
	return len(names) > 0 && names[0] == "x0" && slices.Equal(names, NamesFrom(0, len(names)))
}

// NamesFrom are the names of p features whose indices count from first.
func NamesFrom(first, p int) []string {
	names := make([]string, p)
	for j := range names {
		names[j] = "x" + strconv.Itoa(j+first)
	}
	return names
}

// Is says whether a source holds a table in the format of LIBSVM, by its first lines, without moving on: a number and
// pairs index:value. A name that ends in .svm, .libsvm or .svmlight says so too.
func Is(s *textfile.Source) bool {
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(s.Name())), ".gz")
	switch filepath.Ext(name) {
	case ".csv", ".tsv":
		return false
	case ".svm", ".libsvm", ".svmlight":
		return true
	}
	for line := range bytes.Lines(s.Peek(64 << 10)) {
		line, _, _ = bytes.Cut(line, []byte("#"))
		words := textfile.Words(nil, line)
		switch {
		case len(words) == 0:
			continue
		case !textfile.IsNumber(words[0]):
			return false
		case len(words) > 1:
			return isPair(words[1]) || bytes.HasPrefix(words[1], []byte("qid:"))
		}
	}
	return false
}

// isPair says whether the word starts like index:value.
func isPair(word []byte) bool {
	digits, _, found := bytes.Cut(word, []byte(":"))
	return found && len(digits) > 0 && !slices.ContainsFunc(digits, func(c byte) bool { return c < '0' || c > '9' })
}
