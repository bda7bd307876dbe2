# The C libraries behind backends/scs and backends/osqp; included by the Makefile, and
# good by itself: make -f cgo/deps.mk deps.
#
#   make deps                        get, check and build them, if that has not been done
#   make deps DEPS=DIR               in the folder DIR; CONETUNE_DEPS=DIR in the environment does the same
#   make deps SCS_SRC=DIR            with SCS's own sources in DIR (OSQP_SRC likewise)
#   make deps BLAS_PKG=openblas      with a BLAS that pkg-config knows by that name
#   make deps-env DEPS=DIR           print what Go needs in its environment to link those of DIR
#   make deps-tags                   print the build tags of the libraries
#   make deps-src                    only get and check the sources
#   make transpile                   make Go of them, for builds without cgo (TRANSPILED_TAGS)
#   make asan                        test what calls C under the address sanitiser
#   make deps-clean                  remove what was built, keep the sources
#   make deps-distclean              remove the sources as well
#
# Everything is in DEPS, which is cgo/build unless told otherwise; git ignores that.
# Programs link the libraries with -tags $(CGO_TAGS). Nothing here writes into the
# module's own folders if DEPS is elsewhere, or runs a file of it by its mode: they may
# be those of Go's module cache.

CGO_TAGS := scs,osqp
# The same made Go; programs need the tags $(TRANSPILED_TAGS) and no C compiler.
TRANSPILED_TAGS := scs_go,osqp_go
# The version of modernc.org/ccgo/v4 that does it; Go's checksum database has its sum.
CCGO     ?= v4.34.0
CGO_DIR  := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
# The packages that link them.
MIRRORS  := $(CGO_DIR)/../internal/cgo
# What is made Go, beside packages that call it.
TRANSPILED := $(foreach name,scs osqp,$(CGO_DIR)/../internal/ccgo/$(name)/lib/generated.go)
# Not from a variable DEPS of the environment, which may mean something else.
ifneq ($(origin DEPS),command line)
DEPS     := $(or $(CONETUNE_DEPS),$(CGO_DIR)/build)
endif
GO       ?= go

ASAN_FLAGS := -O1 -g -fsanitize=address -fno-omit-frame-pointer

.PHONY: deps transpile deps-src deps-asan deps-env deps-tags asan deps-clean deps-distclean deps-force

# In a folder of its own the compiler and the linker of cgo are told where. The #cgo
# lines of the packages name cgo/build: where that has headers, too, those of DEPS come
# first, and otherwise last, since these flags go to the C of all packages.
ifneq ($(DEPS),$(CGO_DIR)/build)
ifneq ($(words $(DEPS)),1)
$(error the path of DEPS has a space: $(DEPS))
endif
override DEPS := $(abspath $(DEPS))
export CONETUNE_DEPS := $(DEPS)
INCLUDE := $(if $(wildcard $(CGO_DIR)/build/include),-I,-idirafter )
COMPILER := $(filter-out -DCONETUNE_DEPS=%,$(or $(CGO_CFLAGS),-g -O2))
LINKER   := $(CGO_LDFLAGS)
compile_flags = $(COMPILER) $(foreach library,scs osqp $(RUST),$(INCLUDE)$(1)/include/$(library))
link_flags    = $(strip -L$(1)/lib -Wl,-rpath,$(1)/lib $(LINKER))
# The sum of the libraries is among the flags, so that Go compiles anew after a change.
sum_flag      = $(addprefix -DCONETUNE_DEPS=,$(firstword $(shell cat $(1)/lib/*.a 2>/dev/null | cksum)))
export CGO_CFLAGS  = $(call compile_flags,$(DEPS)) $(call sum_flag,$(DEPS))
export CGO_LDFLAGS = $(call link_flags,$(DEPS))
asan: export CGO_CFLAGS  = $(call compile_flags,$(DEPS)/asan) $(call sum_flag,$(DEPS)/asan)
asan: export CGO_LDFLAGS = $(call link_flags,$(DEPS)/asan)
endif

deps: $(DEPS)/lib/libconetune_scs.a $(DEPS)/lib/libconetune_osqp.a

transpile: $(TRANSPILED)

include $(CGO_DIR)/rust.mk

deps-asan: $(DEPS)/asan/lib/libconetune_scs.a $(DEPS)/asan/lib/libconetune_osqp.a

deps-src:
	DEPS_SRC=$(DEPS)/src sh $(CGO_DIR)/fetch.sh scs openblas qdldl osqp-sys

# For a shell: eval "$(make -s deps-env DEPS=DIR)".
deps-env:
	@test -f $(DEPS)/lib/libconetune_scs.a && test -f $(DEPS)/lib/libconetune_osqp.a || { echo "$(DEPS) lacks the libraries: run make deps first" >&2; exit 1; }
	@echo 'export CGO_ENABLED=1'
	@echo 'export CGO_CFLAGS="$(CGO_CFLAGS)"'
	@echo 'export CGO_LDFLAGS="$(CGO_LDFLAGS)"'

# The build tags of what can be built here.
deps-tags:
	@echo '$(CGO_TAGS)'

# What the libraries were built from and with; touched only when that changes.
$(DEPS)/scs.from: WITH = $(SCS_SRC) $(BLAS_PKG) $(CC) $(CFLAGS)
$(DEPS)/osqp.from: WITH = $(OSQP_SRC) $(CC) $(CFLAGS)
$(DEPS)/scs_go.from: WITH = $(SCS_SRC) $(CCGO)
$(DEPS)/osqp_go.from: WITH = $(OSQP_SRC) $(CCGO)
$(DEPS)/scs.from $(DEPS)/osqp.from $(DEPS)/scs_go.from $(DEPS)/osqp_go.from: deps-force
	@mkdir -p $(@D) || { echo "make deps DEPS=DIR builds in another folder" >&2; exit 1; }
	@echo '$(WITH)' | cmp -s - $@ || echo '$(WITH)' >$@

SCS_OWN     := $(if $(SCS_SRC),$(shell find $(SCS_SRC) -name '*.[ch]'))
OSQP_OWN    := $(if $(OSQP_SRC),$(shell find $(OSQP_SRC) -name '*.[ch]'))
SCS_INPUTS  := $(addprefix $(CGO_DIR)/,fetch.sh build-scs.sh own/scs_set_numbers.c scs.symbols pins/scs.txt pins/openblas.txt) $(SCS_OWN)
OSQP_INPUTS := $(addprefix $(CGO_DIR)/,fetch.sh build-osqp.sh osqp.symbols pins/osqp-sys.txt pins/qdldl.txt) $(OSQP_OWN)
GO_INPUTS   := $(addprefix $(CGO_DIR)/,fetch.sh transpile.sh own/scs_set_numbers.c) $(wildcard $(CGO_DIR)/transpile/* $(CGO_DIR)/transpile/include/*)

$(DEPS)/lib/libconetune_scs.a: $(SCS_INPUTS) $(DEPS)/scs.from
	DEPS_SRC=$(DEPS)/src sh $(CGO_DIR)/build-scs.sh $(DEPS)

$(DEPS)/lib/libconetune_osqp.a: $(OSQP_INPUTS) $(DEPS)/osqp.from
	DEPS_SRC=$(DEPS)/src sh $(CGO_DIR)/build-osqp.sh $(DEPS)

$(DEPS)/asan/lib/libconetune_scs.a: $(SCS_INPUTS) $(DEPS)/scs.from
	DEPS_SRC=$(DEPS)/src CFLAGS='$(ASAN_FLAGS)' sh $(CGO_DIR)/build-scs.sh $(DEPS)/asan

$(DEPS)/asan/lib/libconetune_osqp.a: $(OSQP_INPUTS) $(DEPS)/osqp.from
	DEPS_SRC=$(DEPS)/src CFLAGS='$(ASAN_FLAGS)' sh $(CGO_DIR)/build-osqp.sh $(DEPS)/asan

$(CGO_DIR)/../internal/ccgo/scs/lib/generated.go: $(GO_INPUTS) $(CGO_DIR)/pins/scs.txt $(SCS_OWN) $(DEPS)/scs_go.from
	DEPS_SRC=$(DEPS)/src GO='$(GO)' CCGO=$(CCGO) sh $(CGO_DIR)/transpile.sh scs $@

$(CGO_DIR)/../internal/ccgo/osqp/lib/generated.go: $(GO_INPUTS) $(addprefix $(CGO_DIR)/pins/,osqp-sys.txt qdldl.txt) $(OSQP_OWN) $(DEPS)/osqp_go.from
	DEPS_SRC=$(DEPS)/src GO='$(GO)' CCGO=$(CCGO) sh $(CGO_DIR)/transpile.sh osqp $@

asan: deps-asan
	$(GO) test -asan -short -count=1 -tags $(CGO_TAGS) ./cgo ./internal/cgo/... ./internal/mirror/... ./backends/scs ./backends/osqp $(ASAN_RUST)

# Only what was made here: DEPS may be a folder that holds other things.
deps-clean:
	rm -rf $(addprefix $(DEPS)/,asan lib/libconetune_* lib/libscipy_openblas.so include/scs include/osqp \
		licenses/SCS*.txt licenses/OSQP*.txt licenses/OpenBLAS.txt *.from .lock-scs .lock-osqp scs.?????? osqp.??????)
	@rmdir $(addprefix $(DEPS)/,lib include licenses) 2>/dev/null || true
	@if [ -w $(MIRRORS)/scs ]; then rm -f $(MIRRORS)/*/built*.h $(TRANSPILED); fi

deps-distclean: deps-clean
	rm -rf $(addprefix $(DEPS)/src/,scs-*.tar.gz qdldl-*.tar.gz scipy_openblas32-*.whl osqp-sys-* fetch.??????)
	@rmdir $(DEPS)/src $(DEPS) 2>/dev/null || true
