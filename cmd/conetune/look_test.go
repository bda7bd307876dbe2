package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/cli"
)

// What a table is read as, with what is suspicious, and also where it could not be tuned.
func TestLook(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, ".", "t.csv", "id;born;size;kind;score;y\n1;2001-02-03;1,5;a;-999;no\n2;1999-12-31;;b;-999;yes\n"+
		"3;2000-02-29;2,5;a;1;no\n4;2000-03-01;3,5;NA;2;yes\n5;2000-03-02;0,5;b;3;no\n6;2000-03-03;4;b;4;yes\n")
	text := conetune(t, "look", "t.csv").ok(t)
	require.Contains(t, text, `t.csv: 6 rows, 6 columns; ";" between cells, "," in numbers`)
	require.Regexp(t, `(?m)^born +feature +date +0 +from 1999-12-31 to 2001-02-03$`, text)
	require.Regexp(t, `(?m)^size +feature +number +1 +from 0.5 to 4$`, text)
	require.Regexp(t, `(?m)^kind +feature +category +1 +2 levels: a, b$`, text)
	require.Regexp(t, `(?m)^y +target +category +0 +2 levels: no, yes$`, text)
	require.Regexp(t, `(?m)^id +number +0 +from 1 to 6, whole$`, text)
	require.Contains(t, text, `- column "id": names or numbers of rows, no feature (--id none takes it all the same)`)
	require.Contains(t, text, "--na -999")

	o := conetune(t, "look", "t.csv", "--json", "--na", "-999", "--model", "lasso").object(t)
	columns := o["columns"].([]any)
	require.Len(t, columns, 6)
	require.EqualValues(t, 2, columns[4].(map[string]any)["missing"])
	require.Equal(t, ";", o["separator"])
	findings := o["findings"].([]any)
	last := findings[len(findings)-1].(map[string]any)
	require.Equal(t, "error", last["kind"])
	require.Contains(t, last["text"], "the target holds texts")

	write(t, ".", "t.svm", "1 1:2 3:4\n-1 2:5\n")
	require.Contains(t, conetune(t, "look", "t.svm").ok(t),
		"a LIBSVM file: 3 features from x1 to x3, of whose values 50 %")
	conetune(t, "look").fails(t, cli.ExitUsage, "expected one table")
	conetune(t, "look", "absent.csv").fails(t, cli.ExitUsage, "absent.csv")
}
