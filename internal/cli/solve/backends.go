package solve

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/internal/cli"
	"github.com/conetune/conetune/internal/webpage"
	"github.com/conetune/conetune/internal/words"
)

// backendInfo is what is told about a backend. A backend that this build lacks
// has only a name and the way to get it.
type backendInfo struct {
	Name      string   `json:"name"`
	Available bool     `json:"available"`
	Version   string   `json:"version,omitempty"`
	License   string   `json:"license,omitempty"`
	Cones     []string `json:"cones,omitempty"`
	Features  []string `json:"features,omitempty"`
	HowToGet  string   `json:"how_to_get,omitempty"`
}

// Backends is conetune backends.
func Backends(a *cli.App) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "backends",
		Short: "List the conic solvers: what they can do, and how to get those that this build lacks",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			list, err := listBackends()
			if err != nil {
				return cli.Failed(err)
			}
			if asJSON {
				return a.PrintJSON(list)
			}
			return a.Print(backendTable(list))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func listBackends() ([]backendInfo, error) {
	var list []backendInfo
	for _, name := range backends.Known() {
		if how := backends.Missing(name); how != "" {
			list = append(list, backendInfo{Name: name, HowToGet: how})
			continue
		}
		b, err := backends.Open(name)
		if err != nil {
			return nil, err
		}
		c := b.Capabilities()
		info := backendInfo{Name: name, Available: true, Version: c.Version, License: c.License,
			Cones: words.Each(c.Cones, backends.ConeKind.String)}
		for _, f := range []struct {
			has  bool
			name string
		}{
			{c.Quadratic, "quadratic objective"}, {c.UpdateVectors, "vector updates"}, {c.UpdateMatrices, "matrix updates"},
			{c.WarmStart, "warm start"}, {c.Certificates, "certificates"}, {c.Threads, "threads"},
		} {
			if f.has {
				info.Features = append(info.Features, f.name)
			}
		}
		if len(c.BySequence) > 0 {
			info.Features = append(info.Features, "by the method of multipliers: "+
				words.Joined(words.Each(c.BySequence, backends.ConeKind.String)))
		}
		list = append(list, info)
	}
	return list, nil
}

func backendTable(list []backendInfo) string {
	t := webpage.NewTable("", "", webpage.Text("name"), webpage.Text("version"), webpage.Text("license"),
		webpage.Text("cones"), webpage.Text("features"))
	missing := ""
	for _, i := range list {
		if i.Available {
			t.AddTexts(i.Name, i.Version, i.License, words.Joined(i.Cones), words.Joined(i.Features))
		} else {
			missing += fmt.Sprintf("%s is not in this build; to get it: %s\n", i.Name, i.HowToGet)
		}
	}
	return t.String() + missing
}
