package tune

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/conetune/conetune/internal/cli"
)

// setting is a flag of conetune tune with its value, or the model, as a file of --config has them.
type setting struct {
	Name, Value string
	Line        int
}

// settingModel is the name of the setting that is no flag.
const settingModel = "model"

// ReadConfig reads a file of settings: a mapping of names of flags, without dashes, to a value or a list of values.
func ReadConfig(path string, known *pflag.FlagSet) ([]setting, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("--config: %w", err)
	}
	list, err := decodeConfig(text, known)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return list, nil
}

func decodeConfig(text []byte, known *pflag.FlagSet) ([]setting, error) {
	in := yaml.NewDecoder(bytes.NewReader(text))
	var doc, more yaml.Node
	if err := in.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := in.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one document, expected one")
	}
	root := doc.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, fmt.Errorf(
			"line %d: expected lines of the form NAME: VALUE, with the names of the flags of conetune tune", root.Line)
	}
	var list []setting
	for k := 0; k < len(root.Content); k += 2 {
		key, node := root.Content[k], root.Content[k+1]
		s := setting{Name: key.Value, Line: key.Line}
		wrong := func(format string, args ...any) error {
			return fmt.Errorf("line %d: %s", key.Line, fmt.Sprintf(format, args...))
		}
		if s.Name == "config" || s.Name == "save-config" {
			return nil, wrong("%s is for the command line alone", s.Name)
		}
		if s.Name != settingModel && known.Lookup(s.Name) == nil {
			return nil, wrong("%q is no setting of conetune tune%s", s.Name,
				cli.DidYouMean(s.Name, append(cli.FlagNames(known), settingModel)))
		}
		if i := slices.IndexFunc(list, func(o setting) bool { return o.Name == s.Name }); i >= 0 {
			return nil, wrong("%s is there twice, first on line %d", s.Name, list[i].Line)
		}
		var err error
		if s.Value, err = valueOf(node); err != nil {
			return nil, wrong("%s: %v", s.Name, err)
		}
		list = append(list, s)
	}
	return list, nil
}

// valueOf is the value of a flag: that of a scalar as it is written, or those of a list with commas between them.
func valueOf(node *yaml.Node) (string, error) {
	if node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch {
	case node.Kind == yaml.ScalarNode && node.Tag == "!!null", node.Kind == yaml.ScalarNode && node.Value == "":
		return "", errors.New("it has no value; leave the line out for the default")
	case node.Kind == yaml.ScalarNode:
		return node.Value, nil
	case node.Kind != yaml.SequenceNode:
		return "", errors.New("expected a value or a list of values")
	case len(node.Content) == 0:
		return "", errors.New("the list is empty; leave the line out for the default")
	}
	var parts []string
	for _, item := range node.Content {
		if item.Kind != yaml.ScalarNode {
			return "", errors.New("expected a list of values, without lists or names in it")
		}
		if item.Value == "" {
			return "", errors.New("the list has an empty value")
		}
		parts = append(parts, item.Value)
	}
	return cli.JoinNames(parts), nil
}

// apply takes settings for the flags that the command line does not give, and returns the model, which is that of the
// command line if there is one.
func apply(list []setting, path, model string, fs *pflag.FlagSet) (string, error) {
	for _, s := range list {
		switch {
		case s.Name == settingModel && model == "":
			if _, err := cli.FindModel(s.Value); err != nil {
				return "", cli.BadInputf("%s: line %d: %w", path, s.Line, err)
			}
			model = s.Value
		case s.Name == settingModel || fs.Changed(s.Name):
		default:
			if err := fs.Set(s.Name, s.Value); err != nil {
				return "", cli.BadInputf("%s: line %d: %w", path, s.Line, cli.FlagError(fs, err))
			}
		}
	}
	return model, nil
}

// settings is a file for --config with what was given for a tune, and its seed.
func (f *tuneFlags) settings(model string, fs *pflag.FlagSet) ([]byte, error) {
	root := &yaml.Node{Kind: yaml.MappingNode, HeadComment: "conetune " + cli.Version() +
		"; conetune tune --config FILE does the same"}
	add := func(name string, value *yaml.Node) {
		root.Content = append(root.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, value)
	}
	add(settingModel, scalar("string", model))
	for _, r := range f.rows() {
		flag := fs.Lookup(r.Name)
		if r.Unsaved || !flag.Changed && r.Name != "seed" {
			continue
		}
		parts := cli.Names(flag.Value.String())
		if !r.List || len(parts) == 1 || slices.Contains(parts, "") {
			add(r.Name, scalar(flag.Value.Type(), flag.Value.String()))
			continue
		}
		list := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, part := range parts {
			list.Content = append(list.Content, scalar("string", part))
		}
		add(r.Name, list)
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	err := enc.Encode(root)
	return b.Bytes(), errors.Join(err, enc.Close())
}

// scalar is the value of a flag of some type: texts that look like something else are quoted.
func scalar(kind, value string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: value}
	if kind == "string" {
		n.SetString(value)
	}
	return n
}
