package stdfd

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/conetune/conetune/internal/must"
)

// asked is set in the process that looks at its own descriptors.
const asked = "CONETUNE_TEST_STDFD"

func TestMain(m *testing.M) {
	if path := os.Getenv(asked); path != "" {
		text := ""
		for fd := range 3 {
			text += map[bool]string{true: "closed ", false: "open "}[Closed(fd)]
		}
		if os.WriteFile(path, []byte(text), 0o600) != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestClosed(t *testing.T) {
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	for redirection, want := range map[string]string{
		"":                             "open open open",
		">&-":                          "open closed open",
		"<&- >&- 2>&-":                 "closed closed closed",
		">/dev/null 2>&1 </dev/null":   "open open open",
		">>/dev/null 2>&-":             "open open closed",
		"2>/dev/null >&2":              "open open open",
		"| cat":                        "open open open",
		">/dev/full":                   "open open open",
		"</dev/null >/dev/null 2>&1 &": "open open open",
	} {
		if redirection == ">/dev/full" {
			if _, err := os.Stat("/dev/full"); err != nil {
				continue
			}
		}
		path := t.TempDir() + "/answer"
		cmd := exec.Command(shell, "-c", `"$0" `+redirection+"\nwait", os.Args[0])
		cmd.Env = append(os.Environ(), asked+"="+path)
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s: %s", redirection, out)
		got := must.Of(os.ReadFile(path))(t)
		require.Equal(t, want, strings.TrimSpace(string(got)), redirection)
	}
}
