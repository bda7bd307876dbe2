# make test is what a change must pass; make check is what .ci/run adds to it.

GO          ?= go
# Build tags: the C solvers. make TAGS= leaves them out, and needs Go alone.
TAGS        ?= $(CGO_TAGS)
STATICCHECK ?= $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2

# Packages on which the race detector is run; all of them take about a minute.
RACE ?= ./...

.PHONY: all build test test-go test-noasm vet fmt-check staticcheck check race bench page-check clean

all: build

include cgo/deps.mk

# What is needed before Go builds with the tags.
NEEDS = $(if $(TAGS),deps)

build: $(NEEDS)
	$(GO) build -tags '$(TAGS)' -o conetune ./cmd/conetune

test: test-go test-noasm

test-go: $(NEEDS)
	$(GO) test -tags '$(TAGS)' ./...

# The portable kernels, which run where the assembly does not.
test-noasm:
	$(GO) test -tags noasm ./backends/native/...

vet: $(NEEDS)
	$(GO) vet ./...
	$(GO) vet -tags '$(TAGS)' ./...

fmt-check:
	@bad="$$(gofmt -l .)"; if [ -n "$$bad" ]; then echo "run gofmt -w on:"; echo "$$bad"; exit 1; fi

staticcheck: $(NEEDS)
	$(STATICCHECK) ./...
	$(STATICCHECK) -tags '$(TAGS)' ./...

check: vet fmt-check staticcheck

race: $(NEEDS)
	$(GO) test -race -short -tags '$(TAGS)' $(RACE)

bench: $(NEEDS)
	$(GO) test -tags '$(TAGS)' -run '^$$' -bench . -benchmem ./bench/...

# Opens pages in a headless Chromium: make page-check PAGES="report.html ...". Needs node, a Chromium, and, in this folder,
# npm install --no-save playwright-core axe-core. Not part of make check.
page-check:
	node internal/webpage/check.mjs page-check $(PAGES)

clean: deps-clean
	rm -f conetune diabetes.png diabetes.svg
	rm -rf page-check
	$(GO) clean -testcache
