package main

import (
	"bytes"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/conetune/conetune/backends"
	"github.com/conetune/conetune/backends/portfolio"
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

func (a *app) backendsCommand() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "backends",
		Short: "List the conic solvers: what they can do, and how to get those that this build lacks",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			list, err := listBackends()
			if err != nil {
				return failed(err)
			}
			if asJSON {
				return a.printJSON(list)
			}
			return a.print(backendTable(list))
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

// openBackend opens what --backend names, and --cross-check puts together.
func openBackend(names string, crossCheck bool) (backends.ConicBackend, error) {
	flag, open := "--backend", portfolio.Open
	if crossCheck {
		flag, open = "--cross-check", portfolio.OpenCrossCheck
	}
	b, err := open(names)
	if err != nil {
		return nil, badInputf("%s: %w", flag, err)
	}
	return b, nil
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
		info := backendInfo{Name: name, Available: true, Version: c.Version, License: c.License}
		for _, cone := range c.Cones {
			info.Cones = append(info.Cones, cone.String())
		}
		for _, f := range []struct {
			has  bool
			name string
		}{
			{c.Quadratic, "quadratic objective"}, {c.UpdateVectors, "vector updates"}, {c.UpdateMatrices, "matrix updates"},
			{c.WarmStart, "warm start"}, {c.Certificates, "certificates"},
		} {
			if f.has {
				info.Features = append(info.Features, f.name)
			}
		}
		if len(c.BySequence) > 0 {
			var cones []string
			for _, cone := range c.BySequence {
				cones = append(cones, cone.String())
			}
			info.Features = append(info.Features, "by the method of multipliers: "+strings.Join(cones, ", "))
		}
		list = append(list, info)
	}
	return list, nil
}

func backendTable(list []backendInfo) string {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "name\tversion\tlicense\tcones\tfeatures")
	for _, i := range list {
		if i.Available {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", i.Name, i.Version, i.License, strings.Join(i.Cones, ", "), strings.Join(i.Features, ", "))
		}
	}
	w.Flush()
	for _, i := range list {
		if !i.Available {
			fmt.Fprintf(&b, "%s is not in this build; to get it: %s\n", i.Name, i.HowToGet)
		}
	}
	return b.String()
}
