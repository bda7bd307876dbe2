# make test is what a change must pass; make check is what .ci/run adds to it.

GO          ?= go
# Build tags: the C solvers, or, where CGO_ENABLED=0 says that there is no C compiler, the same made Go. make TAGS= leaves
# them out, and needs Go alone.
TAGS        ?= $(if $(filter 0,$(CGO_ENABLED)),$(TRANSPILED_TAGS),$(CGO_TAGS))
STATICCHECK ?= $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2

# Packages on which the race detector is run; all of them take about a minute.
RACE ?= ./...

.PHONY: all build test test-go test-noasm test-transpiled test-386 cross cross-transpiled fuzz-readers vet fmt-check staticcheck check race bench page-check clean

all: build

include cgo/deps.mk

# What is needed before Go builds with the tags.
comma := ,
TAG_LIST = $(subst $(comma), ,$(TAGS))
NEEDS = $(if $(filter scs osqp,$(TAG_LIST)),deps) $(if $(filter %_go,$(TAG_LIST)),transpile)
# The packages that are not the same with the tags of solvers made Go, but for what is generated.
MADE_GO = ./backends/scs ./backends/osqp ./internal/mirror/... ./internal/ccgo/libc ./internal/ccgo/libblas ./internal/ccgo/scs ./internal/ccgo/osqp

build: $(NEEDS)
	$(GO) build -tags '$(TAGS)' -o conetune ./cmd/conetune

test: test-go test-noasm $(if $(filter scs osqp,$(TAG_LIST)),test-transpiled)

test-go: $(NEEDS)
	$(GO) test -tags '$(TAGS)' ./...

# The C solvers made Go: the suite of all backends, and side by side with C.
test-transpiled: deps transpile
	$(GO) test -tags $(TRANSPILED_TAGS) $(MADE_GO)
	$(GO) test -tags $(CGO_TAGS),$(TRANSPILED_TAGS) ./internal/mirror/... ./internal/ccgo/scs ./internal/ccgo/osqp

# The portable kernels, which run where the assembly does not.
test-noasm:
	$(GO) test -tags noasm ./internal/dense/... ./backends/internal/... ./backends/native/...

# The native solver, the readers and the modelling layer with integers of 32 bits.
test-386:
	CGO_ENABLED=0 GOARCH=386 $(GO) test -short ./backends/native/... ./backends/internal/... ./formats/... ./convex/... ./problems/dataset ./problems/groups

# All packages build without C, also for other systems and for 32 bits.
cross:
	CGO_ENABLED=0 GOARCH=386 $(GO) vet ./...
	@set -e; for target in linux/amd64 linux/arm darwin/arm64 windows/amd64 js/wasm; do echo "go build for $$target"; \
		CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) build ./...; done
	$(if $(TAGS),$(MAKE) cross-transpiled)

# The program with all solvers and without C, where pointers have 64 bits.
cross-transpiled: transpile
	@set -e; for target in linux/amd64 linux/arm64 darwin/arm64 windows/amd64 js/wasm; do echo "go build -tags $(TRANSPILED_TAGS) for $$target"; \
		CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/} $(GO) build -tags $(TRANSPILED_TAGS) -o /dev/null ./cmd/conetune; done

# The fuzz targets of the readers, each for FUZZTIME, two at a time. What one finds is left in testdata/fuzz of its package.
FUZZTIME     ?= 60s
FUZZ_READERS  = formats/qps:FuzzRead formats/cbf:FuzzRead formats/sdpa:FuzzRead formats/libsvm:FuzzRead formats/csvfile:FuzzRead \
	internal/textfile:FuzzDecimal formats/libsvm:FuzzBlocks formats/csvfile:FuzzBlocks \
	problems/dataset:FuzzRead problems/dataset:FuzzReadFolds problems/groups:FuzzRead problems/matcomp:FuzzReadEntries table:FuzzDecode table:FuzzFormats

# Go before 1.27 sometimes ends a run whose time is over with "context deadline exceeded" though no input failed
# (go.dev/issue/75804): only a run that names an input has failed.
fuzz-readers:
	printf '%s\n' $(FUZZ_READERS) | xargs -P 2 -I TARGET sh -c 'target=TARGET; log=$$(mktemp); failed=0; \
		$(GO) test -run "^$$" -fuzz "^$${target#*:}\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 20x -parallel 1 ./$${target%:*} >$$log 2>&1 || failed=1; \
		cat $$log; if grep -q "^ *context deadline exceeded$$" $$log && ! grep -q -i "failing input\|seed corpus\|hung or terminated\|panic" $$log; then failed=0; fi; \
		rm -f $$log; exit $$failed'

# What is looked at with the tags: not what is generated.
TAGGED = $(if $(filter %_go,$(TAG_LIST)),$(MADE_GO) ./cmd/...,./...)

vet: $(NEEDS) $(if $(TAGS),transpile)
	$(GO) vet ./...
	$(GO) vet -tags '$(TAGS)' $(TAGGED)
	$(if $(TAGS),$(GO) vet -tags $(TRANSPILED_TAGS) $(MADE_GO))

fmt-check:
	@bad="$$(gofmt -l .)"; if [ -n "$$bad" ]; then echo "run gofmt -w on:"; echo "$$bad"; exit 1; fi

staticcheck: $(NEEDS) $(if $(TAGS),transpile)
	$(STATICCHECK) ./...
	$(STATICCHECK) -tags '$(TAGS)' $(TAGGED)
	$(if $(TAGS),$(STATICCHECK) -tags $(TRANSPILED_TAGS) $(MADE_GO))

check: vet fmt-check staticcheck

race: $(NEEDS)
	$(GO) test -race -short -timeout 30m -tags '$(TAGS)' $(RACE)

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
