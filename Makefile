# make test is what a change must pass; make check is what .ci/run adds to it.

GO          ?= go
# Build tags: the C solvers, or, where CGO_ENABLED=0 says that there is no C compiler, the same made Go.
# make TAGS= leaves them out, and needs Go alone.
TAGS        ?= $(if $(filter 0,$(CGO_ENABLED)),$(TRANSPILED_TAGS),$(CGO_TAGS))
STATICCHECK ?= $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2

# What the race detector is run on: packages that start goroutines, or have what several of them share, also in their tests; of these the
# tests whose names say that work is done at once, or ended from elsewhere. Numbers are the business of the others, which it makes ten times as slow.
CONCURRENT = ^[[:space:]]+go [a-z]|"sync(/atomic)?"|errgroup"|internal/crew
RACE ?= $(shell grep -rlE --include='*.go' --exclude-dir=ccgo --exclude-dir=browser '$(CONCURRENT)' . | xargs -n 1 dirname | sort -u)
RACE_TESTS = Thread|Worker|Concurren|Crew|Race|Stop|Cancel|Interrupt|Signal|Watchdog|Events|SameBytes|SideBySide|Together|Shared|Parallel|Blocks|Batch|Folds

.PHONY: all build test test-go test-levels test-noasm test-transpiled test-386 test-arm64 cross browser fuzz-readers vet fmt-check staticcheck check race bench page-check clean

all: build

include cgo/deps.mk

# What is needed before Go builds with the tags.
comma := ,
TAG_LIST = $(subst $(comma), ,$(TAGS))
SOLVERS  = $(filter scs osqp %_go,$(TAG_LIST))
NEEDS = $(if $(filter scs osqp,$(TAG_LIST)),deps) $(if $(filter %_go,$(TAG_LIST)),transpile)
# The packages that are not the same with the tags of solvers made Go, but for what is generated.
MADE_GO = ./backends/scs ./backends/osqp ./internal/mirror/... ./internal/ccgo/libc ./internal/ccgo/libblas ./internal/ccgo/scs ./internal/ccgo/osqp

build: $(NEEDS)
	$(GO) build -tags '$(TAGS)' -o conetune ./cmd/conetune

test: test-go $(if $(filter scs osqp,$(TAG_LIST)),test-transpiled)

# What go test would vet is left to make check, which vets all of it. Go ends a package's tests after ten minutes by the
# clock, which is no bound of their work where other processes have the processors.
UNHURRIED = -vet=off -timeout 60m
test-go: $(NEEDS)
	$(GO) test $(UNHURRIED) -tags '$(TAGS)' ./...

# The C solvers made Go: the suite of all backends, and side by side with C.
test-transpiled: deps transpile
	$(GO) test $(UNHURRIED) -tags $(TRANSPILED_TAGS) $(MADE_GO)
	$(GO) test $(UNHURRIED) -tags $(CGO_TAGS),$(TRANSPILED_TAGS) ./internal/mirror/... ./internal/ccgo/scs ./internal/ccgo/osqp

# The numeric packages at the levels of the assembly below that of the processor: AVX2, and none, which is the portable kernels.
# The levels are chosen where the program begins, so that nothing is compiled anew.
LEVELS = cpu.avx512f=off cpu.avx2=off
test-levels: $(NEEDS)
	@set -e; for level in $(LEVELS); do echo "go test with GODEBUG=$$level"; \
		GODEBUG=$$level $(GO) test -short $(UNHURRIED) -tags '$(TAGS)' ./internal/dense/... ./backends/internal/... ./backends/native/... ./convex/... ./lower/... ./internal/lower/... ./dca; done

# The same built without any assembly, as on other architectures.
test-noasm:
	$(GO) test $(UNHURRIED) -tags noasm ./internal/dense/... ./backends/internal/... ./backends/native/...

# The native solver, the readers and the modelling layer with integers of 32 bits.
test-386:
	CGO_ENABLED=0 GOARCH=386 $(GO) test -short $(UNHURRIED) ./backends/native/... ./backends/internal/... ./formats/... ./convex/... ./problems/dataset ./problems/groups

# The numeric packages and the readers on another architecture, in an emulator of its instructions (Debian: qemu-user-static). Not part of
# make check: it takes most of an hour.
EMULATOR ?= qemu-aarch64-static
test-arm64:
	CGO_ENABLED=0 GOARCH=arm64 $(GO) test -exec $(EMULATOR) -short $(UNHURRIED) \
		./internal/dense/... ./backends ./backends/internal/... ./backends/native/... ./convex/... ./lower/... ./internal/lower/... ./formats/...

# All packages build without C, once for each thing that differs: 32 bits, without solvers, tests included; and, with the solvers made Go, which
# need pointers of 64 bits, a Unix that is not Linux and a processor without our assembly, and a system that is no Unix; without them, one
# without processes.
CROSS_TAGS = $(if $(SOLVERS),$(TRANSPILED_TAGS),$(TAGS))
cross: $(if $(SOLVERS),transpile)
	CGO_ENABLED=0 GOARCH=386 $(GO) vet ./...
	CGO_ENABLED=0 GOOS=js GOARCH=wasm $(GO) build ./...
	@set -e; for target in darwin/arm64 windows/amd64; do echo "go build -tags '$(CROSS_TAGS)' for $$target"; \
		CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) build -tags '$(CROSS_TAGS)' ./...; done

# The native solver in a web page: serve examples/browser, by python3 -m http.server for example.
browser:
	CGO_ENABLED=0 GOOS=js GOARCH=wasm $(GO) build -trimpath -ldflags '-s -w' -o examples/browser/conetune.wasm ./examples/browser
	cp "$$($(GO) env GOROOT)/lib/wasm/wasm_exec.js" examples/browser/

# The fuzz targets of the readers, each for FUZZTIME, two at a time. What one finds is left in testdata/fuzz of its package.
FUZZTIME     ?= 60s
FUZZ_READERS  = formats/lp:FuzzRead formats/qps:FuzzRead formats/cbf:FuzzRead formats/sdpa:FuzzRead internal/libsvm:FuzzRead \
	internal/textfile:FuzzDecimal \
	table/input:FuzzReadFolds problems/groups:FuzzRead problems/matcomp:FuzzReadEntries table:FuzzDecode table:FuzzFormats

# Go before 1.27 sometimes ends a run whose time is over with "context deadline exceeded" though no input failed
# (go.dev/issue/75804): only a run that names an input has failed.
fuzz-readers:
	printf '%s\n' $(FUZZ_READERS) | xargs -P 2 -I TARGET sh -c 'target=TARGET; log=$$(mktemp); failed=0; \
		$(GO) test -run "^$$" -fuzz "^$${target#*:}\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x -parallel 1 ./$${target%:*} >$$log 2>&1 || failed=1; \
		cat $$log; if grep -q "^ *context deadline exceeded$$" $$log && ! grep -q -i "failing input\|seed corpus\|hung or terminated\|panic" $$log; then failed=0; fi; \
		rm -f $$log; exit $$failed'

# What is looked at with the tags: not what is generated.
TAGGED = $(if $(filter %_go,$(TAG_LIST)),$(MADE_GO) ./cmd/...,./...)

# What a build without tags has in the place of solvers is vetted by make cross.
vet: $(NEEDS) $(if $(SOLVERS),transpile)
	$(GO) vet -tags '$(TAGS)' $(TAGGED)
	$(if $(SOLVERS),$(GO) vet -tags $(TRANSPILED_TAGS) $(MADE_GO))

fmt-check:
	@bad="$$(gofmt -l .)"; if [ -n "$$bad" ]; then echo "run gofmt -w on:"; echo "$$bad"; exit 1; fi
	@! grep -rnE --include='*.go' --exclude='*_test.go' --exclude=generated.go --exclude-dir=build '^.{121,}' . || \
		{ echo "these lines have over 120 characters"; exit 1; }

staticcheck: $(NEEDS) $(if $(SOLVERS),transpile)
	$(STATICCHECK) -tags '$(TAGS)' $(TAGGED)
	$(if $(SOLVERS),$(STATICCHECK) -tags $(TRANSPILED_TAGS) $(MADE_GO))

check: vet fmt-check staticcheck

race: $(NEEDS)
	$(GO) test -race -short $(UNHURRIED) -tags '$(TAGS)' -run '$(RACE_TESTS)' $(RACE)

bench: $(NEEDS)
	$(GO) test -tags '$(TAGS)' -run '^$$' -bench . -benchmem ./bench/... ./internal/paper

# Opens pages in a headless Chromium: make page-check PAGES="report.html ...". Needs node, a Chromium, and, in this folder,
# npm install --no-save playwright-core axe-core. Not part of make check.
page-check:
	node internal/webpage/check.mjs page-check $(PAGES)

clean: deps-clean
	rm -f conetune diabetes.png diabetes.svg
	rm -rf page-check
	$(GO) clean -testcache
