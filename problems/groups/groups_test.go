package groups_test

import (
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
	"github.com/conetune/conetune/problems/groups"
)

func put(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "groups.csv")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func TestEqual(t *testing.T) {
	g := must.Of(groups.Equal(6, 3))(t)
	require.Equal(t, [][]int{{0, 1}, {2, 3}, {4, 5}}, g.Members)
	require.Equal(t, []string{"group0", "group1", "group2"}, g.Names)
	require.NoError(t, g.Check(6, false))
	for _, c := range []struct {
		p, m int
		want string
	}{
		{6, 0, "0 groups, expected at least 1"}, {6, -2, "-2 groups"}, {6, 7, "7 groups of 6 features, expected at most one"},
		{6, 4, "6 features cannot be divided into 4 groups of the same size"},
	} {
		_, err := groups.Equal(c.p, c.m)
		require.ErrorContains(t, err, c.want)
	}
	_, err := groups.Of([]int{0, -1})
	require.ErrorContains(t, err, "group of feature 2 is -1")
}

func TestCheck(t *testing.T) {
	named := func(members ...[]int) *groups.Groups {
		g := &groups.Groups{Members: members}
		for range members {
			g.Names = append(g.Names, "a")
		}
		return g
	}
	require.NoError(t, named([]int{0, 2}, []int{1}).Check(3, false))
	require.NoError(t, named([]int{0, 2}, []int{1, 2}).Check(3, true))
	for want, g := range map[string]*groups.Groups{
		"feature 2 is in a and in a":     named([]int{0, 2}, []int{1, 2}),
		"is empty":                       named([]int{0, 1, 2}, nil),
		"feature 1 is in no group":       named([]int{0, 2}),
		"holds feature 3, expected":      named([]int{0, 1, 2, 3}),
		"holds feature 0 twice":          named([]int{0, 0, 1, 2}),
		"1 names for 2 groups":           {Members: [][]int{{0}, {1, 2}}, Names: []string{"a"}},
		"no groups, expected at least 1": nil,
	} {
		require.ErrorContains(t, g.Check(3, false), want)
	}
}

func TestRead(t *testing.T) {
	features := []string{"a", "b", "c,d", "e"}
	for _, text := range []string{
		"feature,group\na,0\nb,7\n\"c,d\",0\ne,7\n",
		"group, feature ,note\n7,b,x\n 0 ,a,x\n\n7,e,x\n0,\"c,d\",x\n",
		"group\n0\n7\n0\n7",
	} {
		g, err := groups.Read(put(t, text), features, false)
		require.NoError(t, err, text)
		require.Equal(t, [][]int{{0, 2}, {1, 3}}, g.Members)
		require.Equal(t, []string{"group0", "group7"}, g.Names)
	}
	g := must.Of(groups.Read(put(t, "feature,group\na,0\nb,0\nb,1\n\"c,d\",1\ne,1\n"), features, true))(t)
	require.Equal(t, [][]int{{0, 1}, {1, 2, 3}}, g.Members)
}

func TestReadErrors(t *testing.T) {
	features := []string{"a", "b", "c"}
	for _, c := range []struct{ text, want string }{
		{"", "is empty, expected the columns feature and group"},
		{"a,b\n", ":1: has the columns a, b, expected feature and group, or group alone"},
		{"feature,group\na,0\nb,1\n", `lacks the group of "c" and 0 more of the 3 features`},
		{"feature,group\na,0\nb,1\nc\n", ":4: has 1 fields, expected 2"},
		{"feature,group\na,0\nb,one\nc,1\n", `:3: group: "one" found, expected an integer`},
		{"feature,group\na,0\nb,-1\nc,1\n", `:3: group: "-1" found`},
		{"feature,group\na,0\nb,1.5\nc,1\n", `:3: group: "1.5" found`},
		{"feature,group\na,0\nz,1\nc,1\n", `:3: feature: "z" is not a feature of the table`},
		{"feature,group\na,0\nb,1\na,1\nc,1\n", `:4: feature: "a" stands on line 2 too`},
		{"group\n0\n1\n1\n1\n", ":5: is one line too many: there are 3 features"},
		{"group\n0\n1\n", `lacks the group of "c"`},
		{"feature,group\n\"a,0\n", ":2: is not CSV"},
	} {
		_, err := groups.Read(put(t, c.text), features, false)
		require.ErrorContains(t, err, c.want, c.text)
	}
	_, err := groups.Read(put(t, "feature,group\na,0\na,0\nb,1\nc,1\n"), features, true)
	require.ErrorContains(t, err, `"a" is in group 0 already`)
	_, err = groups.Read(filepath.Join(t.TempDir(), "none"), features, false)
	require.ErrorContains(t, err, "no such file")
}

func TestDirectories(t *testing.T) {
	features := []string{"a", "b", "c", "d"}
	dir := t.TempDir()
	_, err := groups.ReadDir(dir, features, false)
	require.ErrorContains(t, err, "lacks groups.csv")
	want := must.Of(groups.Of([]int{3, 1, 3, 2}))(t)
	require.NoError(t, groups.WriteDir(dir, want, features))
	got := must.Of(groups.ReadDir(dir, features, false))(t)
	require.Equal(t, want, got)

	packed := t.TempDir()
	f := must.Of(os.Create(filepath.Join(packed, "groups.csv.gz")))(t)
	w := gzip.NewWriter(f)
	fmt.Fprint(w, "group\n3\n1\n3\n2\n")
	require.NoError(t, w.Close())
	require.NoError(t, f.Close())
	got = must.Of(groups.ReadDir(packed, features, false))(t)
	require.Equal(t, want, got)
}

func ExampleEqual() {
	g, err := groups.Equal(6, 2)
	fmt.Println(g.Names, g.Members, err)
	// Output: [group0 group1] [[0 1 2] [3 4 5]] <nil>
}
