# The C libraries behind backends/scs and backends/osqp; included by the Makefile.
#
#   make deps                        get, check and build them, if that has not been done
#   make deps SCS_SRC=DIR            with SCS's own sources in DIR (OSQP_SRC likewise)
#   make deps BLAS_PKG=openblas      with a BLAS that pkg-config knows by that name
#   make deps-src                    only get and check the sources
#   make asan                        test what calls C under the address sanitiser
#   make deps-clean                  remove what was built, keep the sources
#   make deps-distclean              remove the sources as well
#
# Everything is in cgo/build, which git ignores. Programs link the libraries with
# -tags $(CGO_TAGS).

CGO_TAGS := scs,osqp
CGO_DIR  := $(patsubst %/,%,$(dir $(lastword $(MAKEFILE_LIST))))
DEPS     := $(CGO_DIR)/build

ASAN_FLAGS := -O1 -g -fsanitize=address -fno-omit-frame-pointer

.PHONY: deps deps-src deps-asan asan deps-clean deps-distclean deps-force

deps: $(DEPS)/lib/libconetune_scs.a $(DEPS)/lib/libconetune_osqp.a

deps-asan: $(DEPS)/asan/lib/libconetune_scs.a $(DEPS)/asan/lib/libconetune_osqp.a

deps-src:
	$(CGO_DIR)/fetch.sh scs openblas qdldl osqp-sys

# What the libraries were built from and with; touched only when that changes.
$(DEPS)/scs.from: WITH = $(SCS_SRC) $(BLAS_PKG) $(CC) $(CFLAGS)
$(DEPS)/osqp.from: WITH = $(OSQP_SRC) $(CC) $(CFLAGS)
$(DEPS)/scs.from $(DEPS)/osqp.from: deps-force
	@mkdir -p $(@D)
	@echo '$(WITH)' | cmp -s - $@ || echo '$(WITH)' >$@

SCS_INPUTS  := $(addprefix $(CGO_DIR)/,fetch.sh build-scs.sh scs.symbols pins/scs.txt pins/openblas.txt) \
	$(if $(SCS_SRC),$(shell find $(SCS_SRC) -name '*.[ch]'))
OSQP_INPUTS := $(addprefix $(CGO_DIR)/,fetch.sh build-osqp.sh osqp.symbols pins/osqp-sys.txt pins/qdldl.txt) \
	$(if $(OSQP_SRC),$(shell find $(OSQP_SRC) -name '*.[ch]'))

$(DEPS)/lib/libconetune_scs.a: $(SCS_INPUTS) $(DEPS)/scs.from
	$(CGO_DIR)/build-scs.sh $(DEPS)

$(DEPS)/lib/libconetune_osqp.a: $(OSQP_INPUTS) $(DEPS)/osqp.from
	$(CGO_DIR)/build-osqp.sh $(DEPS)

$(DEPS)/asan/lib/libconetune_scs.a: $(SCS_INPUTS) $(DEPS)/scs.from
	CFLAGS='$(ASAN_FLAGS)' $(CGO_DIR)/build-scs.sh $(DEPS)/asan

$(DEPS)/asan/lib/libconetune_osqp.a: $(OSQP_INPUTS) $(DEPS)/osqp.from
	CFLAGS='$(ASAN_FLAGS)' $(CGO_DIR)/build-osqp.sh $(DEPS)/asan

asan: deps-asan
	$(GO) test -asan -short -count=1 -tags $(CGO_TAGS) ./cgo/... ./backends/scs ./backends/osqp

deps-clean:
	rm -rf $(DEPS)/lib $(DEPS)/include $(DEPS)/licenses $(DEPS)/asan $(DEPS)/*.from $(CGO_DIR)/*/built*.h

deps-distclean: deps-clean
	rm -rf $(DEPS)
