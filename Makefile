# make test is what a change must pass; make check is what .ci/run adds to it.

GO          ?= go
STATICCHECK ?= $(GO) run honnef.co/go/tools/cmd/staticcheck@v0.8.2

# Packages on which the race detector is run; all of them take about a minute.
RACE ?= ./...

.PHONY: all build test test-go test-noasm vet fmt-check staticcheck check race bench clean

all: build

build:
	$(GO) build -o conetune ./cmd/conetune

test: test-go test-noasm

test-go:
	$(GO) test ./...

# The portable kernels, which run where the assembly does not.
test-noasm:
	$(GO) test -tags noasm ./backends/native/...

vet:
	$(GO) vet ./...

fmt-check:
	@bad="$$(gofmt -l .)"; if [ -n "$$bad" ]; then echo "run gofmt -w on:"; echo "$$bad"; exit 1; fi

staticcheck:
	$(STATICCHECK) ./...

check: vet fmt-check staticcheck

race:
	$(GO) test -race -short $(RACE)

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./bench/...

clean:
	rm -f conetune diabetes.png diabetes.svg
	$(GO) clean -testcache
