package root

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/licenses"
)

func (a *app) licensesCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "licenses",
		Short: "Print the licences of this program and of all that is linked into it",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { // as they are, in the encodings of their authors
			_, err := io.WriteString(a.Stdout, licenses.Text())
			return err
		},
	}
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE:  func(*cobra.Command, []string) error { return a.Print("conetune " + cli.Version() + "\n") },
	}
}
