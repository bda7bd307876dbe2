# Clarabel, a library in Rust; included by deps.mk. Without cargo it is left out, and the tag with it;
# make RUST= does the same.

RUST ?= $(if $(shell command -v cargo 2>/dev/null),clarabel)
ifneq ($(RUST),)
CGO_TAGS := $(CGO_TAGS),clarabel

deps: $(DEPS)/lib/libconetune_clarabel.a
deps-asan: $(DEPS)/asan/lib/libconetune_clarabel.a
deps-src: deps-src-rust
asan: ASAN_RUST = ./backends/clarabel
endif

.PHONY: deps-src-rust deps-clean-rust deps-distclean-rust

deps-src-rust:
	DEPS_SRC=$(DEPS)/src sh $(CGO_DIR)/fetch.sh clarabel

CLARABEL_INPUTS := $(addprefix $(CGO_DIR)/,build-clarabel.sh clarabel.symbols clarabel/Cargo.toml clarabel/Cargo.lock clarabel/src/lib.rs \
	clarabel/conetune_clarabel.h)

# After SCS, whose BLAS it links.
$(DEPS)/lib/libconetune_clarabel.a: $(CLARABEL_INPUTS) | $(DEPS)/lib/libconetune_scs.a
	DEPS_SRC=$(DEPS)/src sh $(CGO_DIR)/build-clarabel.sh $(DEPS)

# Rust is compiled as it is: the sanitiser looks at what calls it.
$(DEPS)/asan/lib/libconetune_clarabel.a: $(CLARABEL_INPUTS) | $(DEPS)/asan/lib/libconetune_scs.a
	DEPS_SRC=$(DEPS)/src sh $(CGO_DIR)/build-clarabel.sh $(DEPS)/asan

deps-clean: deps-clean-rust
deps-clean-rust:
	rm -rf $(addprefix $(DEPS)/,include/clarabel licenses/Clarabel*.txt .lock-clarabel clarabel.??????)

deps-distclean: deps-distclean-rust
deps-distclean-rust: deps-clean-rust
	rm -rf $(DEPS)/src/clarabel-0.11.1
