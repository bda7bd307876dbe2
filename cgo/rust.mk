# Clarabel, a library in Rust, and HiGHS, one in C++ that comes as a crate; included by deps.mk. Without cargo
# they are left out, and their tags with them; make RUST= does the same, and RUST=highs takes one of them.

RUST ?= $(if $(shell command -v cargo 2>/dev/null),clarabel highs)
ifneq ($(strip $(RUST)),)
comma := ,
CGO_TAGS := $(CGO_TAGS)$(addprefix $(comma),$(RUST))
CGO_TAGS := $(subst $() ,,$(CGO_TAGS))

deps: $(RUST:%=$(DEPS)/lib/libconetune_%.a)
deps-asan: $(RUST:%=$(DEPS)/asan/lib/libconetune_%.a)
deps-src: deps-src-rust
asan: ASAN_RUST = $(RUST:%=./backends/%)
endif

.PHONY: deps-src-rust deps-clean-rust deps-distclean-rust

deps-src-rust:
	DEPS_SRC=$(DEPS)/src sh $(CGO_DIR)/fetch.sh $(subst highs,highs-sys,$(RUST))

CLARABEL_INPUTS := $(addprefix $(CGO_DIR)/,build-clarabel.sh clarabel.symbols clarabel/Cargo.toml clarabel/Cargo.lock clarabel/src/lib.rs \
	clarabel/conetune_clarabel.h)

# After SCS, whose BLAS it links.
$(DEPS)/lib/libconetune_clarabel.a: $(CLARABEL_INPUTS) | $(DEPS)/lib/libconetune_scs.a
	DEPS_SRC=$(DEPS)/src sh $(CGO_DIR)/build-clarabel.sh $(DEPS)

# Rust is compiled as it is: the sanitiser looks at what calls it.
$(DEPS)/asan/lib/libconetune_clarabel.a: $(CLARABEL_INPUTS) | $(DEPS)/asan/lib/libconetune_scs.a
	DEPS_SRC=$(DEPS)/src sh $(CGO_DIR)/build-clarabel.sh $(DEPS)/asan

$(DEPS)/highs.from: WITH = $(CC) $(CXX) $(CFLAGS)
$(DEPS)/highs.from: deps-force
	@mkdir -p $(@D) || { echo "make deps DEPS=DIR builds in another folder" >&2; exit 1; }
	@echo '$(WITH)' | cmp -s - $@ || echo '$(WITH)' >$@

HIGHS_INPUTS := $(addprefix $(CGO_DIR)/,fetch.sh build-highs.sh link-highs.sh highs.symbols pins/highs-sys.txt) $(wildcard $(CGO_DIR)/highs/*)

# After SCS, whose BLAS it links.
$(DEPS)/lib/libconetune_highs.a: $(HIGHS_INPUTS) $(DEPS)/highs.from | $(DEPS)/lib/libconetune_scs.a
	DEPS_SRC=$(DEPS)/src sh $(CGO_DIR)/build-highs.sh $(DEPS)

$(DEPS)/asan/lib/libconetune_highs.a: $(HIGHS_INPUTS) $(DEPS)/highs.from | $(DEPS)/asan/lib/libconetune_scs.a
	DEPS_SRC=$(DEPS)/src CFLAGS='$(ASAN_FLAGS)' sh $(CGO_DIR)/build-highs.sh $(DEPS)/asan

deps-clean: deps-clean-rust
deps-clean-rust:
	rm -rf $(addprefix $(DEPS)/,include/clarabel include/highs licenses/Clarabel*.txt licenses/HiGHS*.txt .lock-clarabel .lock-highs \
		clarabel.?????? highs.??????)

deps-distclean: deps-distclean-rust
deps-distclean-rust: deps-clean-rust
	rm -rf $(DEPS)/src/clarabel-0.11.1 $(DEPS)/src/highs-sys-*
