package cgo

import "embed"

// Scripts are the files of this folder that get, check and build the libraries: deps.mk and what it needs. The
// command deps writes them where it may, for programs that have this module from Go's module cache.
//
//go:embed deps.mk rust.mk fetch.sh build-scs.sh build-osqp.sh build-clarabel.sh build-highs.sh link-highs.sh
//go:embed scs.symbols osqp.symbols clarabel.symbols highs.symbols
//go:embed pins crates clarabel highs own all:nobuild
var Scripts embed.FS
