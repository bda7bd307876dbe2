// Command deps gets, checks and builds the libraries SCS, OSQP, Clarabel and HiGHS for a program that imports conetune,
// and prints what Go needs in its environment to link them:
//
//	eval "$(go run github.com/conetune/conetune/cgo/deps@VERSION)"
//	go build -tags scs,osqp,clarabel,highs .
//
// VERSION is that of conetune in the program's go.mod. It needs what "make deps" needs (README.md of package cgo), and
// writes into one folder alone, conetune/VERSION below the user's cache folder unless -dir names another one. What is
// built stays, so that the second run takes a moment. On standard output are the lines for the shell and nothing else.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"

	"github.com/conetune/conetune/cgo"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "deps:", err)
		}
		os.Exit(2)
	}
}

// run does what the arguments say; the lines for the shell go to out, all else to log.
func run(args []string, out, log io.Writer) error {
	flags := flag.NewFlagSet("deps", flag.ContinueOnError)
	flags.SetOutput(log)
	flags.Usage = func() {
		fmt.Fprint(log, "usage: deps [-dir DIR] [-tags] [VARIABLE=VALUE ...]\n\nVariables are those of make deps, such as "+
			"BLAS_PKG=openblas, or RUST= for no Clarabel and no HiGHS.\n\n")
		flags.PrintDefaults()
	}
	dir := flags.String("dir", "",
		"the `folder` for sources and libraries (default: conetune/VERSION below the user's cache folder)")
	tags := flags.Bool("tags", false, "print the build tags instead of the lines for the shell")
	if err := flags.Parse(args); err != nil {
		return err
	}
	for _, v := range flags.Args() {
		if !strings.Contains(v, "=") {
			return fmt.Errorf("%q is no VARIABLE=VALUE", v)
		}
	}
	if *dir == "" {
		cache, err := os.UserCacheDir()
		if err != nil {
			return fmt.Errorf("%w; name a folder by -dir", err)
		}
		*dir = filepath.Join(cache, "conetune", version())
	}
	root, err := filepath.Abs(*dir)
	if err != nil {
		return err
	}
	if strings.ContainsAny(root, " \t") {
		return fmt.Errorf("the path of %s has a space, which the flags of cgo cannot have", root)
	}
	scripts := filepath.Join(root, "scripts")
	if err := write(scripts); err != nil {
		return err
	}
	call := func(target string, out io.Writer) error {
		make := append([]string{"-s", "-f", filepath.Join(scripts, "deps.mk"), target, "DEPS=" + root}, flags.Args()...)
		cmd := exec.Command("make", make...)
		cmd.Stdout, cmd.Stderr = out, log
		if err := cmd.Run(); err != nil {
			return fmt.Errorf("make %s: %w", target, err)
		}
		return nil
	}
	if *tags {
		return call("deps-tags", out)
	}
	if err := call("deps", log); err != nil {
		return err
	}
	return call("deps-env", out)
}

// version is that of the module in the program, or devel in a checkout.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(info.Main.Version, "v") {
		return info.Main.Version
	}
	return "devel"
}

// write puts the scripts into dir. Files that are as they should be stay, so that make sees no change.
func write(dir string) error {
	return fs.WalkDir(cgo.Scripts, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(dir, filepath.FromSlash(path))
		if d.IsDir() {
			return os.MkdirAll(target, 0o755)
		}
		text, err := cgo.Scripts.ReadFile(path)
		if err != nil {
			return err
		}
		if have, err := os.ReadFile(target); err == nil && string(have) == string(text) {
			return nil
		}
		return os.WriteFile(target, text, 0o644)
	})
}
