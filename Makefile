# Everything a developer runs. `make` alone lists it.

HOST   ?= 127.0.0.1
PORT   ?= 8000
MODEL  ?=
TESTS  ?=
STREAMS ?=
OPERATIONS ?=
SEED    ?=
GRAPH  ?=
ONLY   ?=
ROUNDS ?= 5
DATA   ?=
ARM_TESTS := tests/native/dense tests/native/threads/test_team.py tests/native/threads/test_thread_pool.py
# Extra flags for pip.
PIP_FLAGS ?=
# TORCH_INDEX= is where torch comes from, empty for pip's own index; else torch-index chooses: PyPI's
# build for x86 brings 4 GB of CUDA, which are of no use without a GPU.
CPU_TORCH := https://download.pytorch.org/whl/cpu

VENV    := .venv
BIN     := $(VENV)/bin
STAMP   := $(VENV)/.ready
OLD_SDK := build/deepgram-sdk-6
# Every package keeps its native code in a csrc/ of its own.
NATIVE  := CMakeLists.txt $(shell find cmake */csrc -type f)
CSRC     = $(shell git ls-files '*.h' '*.cu' '*.cpp')
SCRIPTS  = $(shell git ls-files 'web/*.js')
SEARCH_PROPERTIES := tests/decoder_kernels/wfst/test_wfst_properties.py \
                     tests/decoder_kernels/prefix/test_prefix_search_properties.py
GPU_CHECK = benchmarks/cuda/gpu_check.py $(if $(GRAPH),--graph $(GRAPH)) $(if $(ONLY),--only $(ONLY))
INSTALL  = $(BIN)/python -m pip install -q --disable-pip-version-check $(PIP_FLAGS) -c constraints.txt
# pip is quiet, and compiling takes minutes; ends with the process that compiles.
TELL_COMPILED = while sleep 20 && kill -0 $$kernels 2>/dev/null; do \
  echo "setup: $$(find build/cp* -name '*.o' -newer $(BIN)/cmake 2>/dev/null | wc -l) files are compiled"; done
# One a line, with those of the tests and of the tools.
DEPENDENCIES := import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
                extras = project["optional-dependencies"]; \
                print(*project["dependencies"], *extras["test"], *extras["dev"], sep="\n")
PYTHON_OK := import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))
# Its name server may be silent for longer than any timeout of Python's.
ANSWERS  = timeout 10 $(PYTHON) -c 'import sys, urllib.request as web; web.urlopen(sys.argv[1], timeout=5)'
PYTHON  ?= $(shell for python in python3.11 python3.12 python3.13 python3; do \
             $$python -c '$(PYTHON_OK)' 2>/dev/null && echo $$python && break; done)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help tools torch-index setup constraints serve check test fresh thousands fuzz races arm-test \
        wheel ci \
        style format types stubs layers gpu cuda-emulator cuda-test cuda-fuzz cuda-count \
        bench bundled-graph bundled-neural-lm clean

help: ## list the targets
	@echo "usage: make TARGET [VARIABLE=value]"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-13s %s\n", $$1, $$2 }' Makefile

tools: ## check that Python 3.11, its headers, g++ and make are here
	@missing=""; \
	test -n "$(PYTHON)" || missing="$$missing, Python 3.11 or newer with venv (python3 python3-venv)"; \
	command -v g++ >/dev/null || missing="$$missing, a C++ compiler (g++)"; \
	command -v make >/dev/null || missing="$$missing, make (make)"; \
	if test -n "$(PYTHON)"; then \
	  headers=$$($(PYTHON) -c 'import sysconfig; print(sysconfig.get_path("include"))'); \
	  test -f "$$headers/Python.h" || missing="$$missing, Python's headers (python3-dev)"; \
	fi; \
	if test -n "$$missing"; then \
	  echo "make setup: missing: $${missing#, }; in brackets: Debian's and Ubuntu's packages" >&2; \
	  exit 1; \
	fi

torch-index: # on stdout the index, or nothing for pip's own; on stderr a line that says so
	@index='$(TORCH_INDEX)'; \
	if test '$(origin TORCH_INDEX)' != undefined; then why="as asked"; \
	elif nvidia-smi >/dev/null 2>&1; then why="there is a GPU"; \
	elif $(ANSWERS) $(CPU_TORCH)/torch/ 2>/dev/null; then why="there is no GPU"; index=$(CPU_TORCH); \
	else why="there is no GPU, but $(CPU_TORCH) does not answer"; fi; \
	echo "setup: torch comes from $${index:-the index that pip knows}: $$why" >&2; \
	echo "$$index"

setup: $(STAMP) ## build .venv: dependencies as pinned in constraints.txt, kernels compiled by g++

$(STAMP): pyproject.toml constraints.txt $(NATIVE)
	@$(MAKE) --no-print-directory tools
	@echo "setup: creating $(VENV) with $(PYTHON)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "setup: installing the build tools"
	@$(INSTALL) pip scikit-build-core nanobind cmake ninja
	@echo "setup: compiling the kernels (some minutes) while the dependencies are installed"
	@$(INSTALL) --no-deps --no-build-isolation -e . & kernels=$$!; failed=0; $(TELL_COMPILED) & \
	{ index=$$($(MAKE) -s --no-print-directory torch-index) && \
	  $(INSTALL) $${index:+--extra-index-url "$$index"} torch && \
	  $(BIN)/python -c '$(DEPENDENCIES)' >$(VENV)/dependencies.txt && \
	  $(INSTALL) -r $(VENV)/dependencies.txt; } || failed=1; \
	wait $$kernels && test $$failed = 0
	@touch $@
	@echo "setup: ready; next: make serve"

# Clients of the last major release are tested too; it needs what the newest has installed.
$(OLD_SDK):
	@echo "$@: for the tests"
	@$(BIN)/python -m pip install -q --disable-pip-version-check $(PIP_FLAGS) --no-deps \
	  --target $@ deepgram-sdk==6.1.1 || \
	  { echo "$@: not installed, its tests will be skipped"; test -z "$$CI"; }

constraints: ## write the versions now in .venv to constraints.txt
	@echo "constraints: reading $(VENV)"
	@{ sed -n '/^#/p' constraints.txt; \
	  $(BIN)/python -m pip freeze --disable-pip-version-check --exclude-editable | sed 's/+cpu$$//'; \
	} > constraints.txt.new
	@mv constraints.txt.new constraints.txt

serve: $(STAMP) ## serve the page and /v1/listen; HOST= PORT= MODEL=DIR GRAPH=
	@echo "serve: http://$(HOST):$(PORT)/"
	@exec $(BIN)/earshot serve --host $(HOST) --port $(PORT) $(if $(MODEL),--model $(MODEL)) \
	  $(if $(GRAPH),--graph $(GRAPH))

test: $(STAMP) $(OLD_SDK) ## run all tests, or those under TESTS=; WORKERS= processes share their files
	@echo "test: $(or $(TESTS),tests)"
	@$(BIN)/python -m pytest -n $(or $(WORKERS),auto) --maxprocesses 4 --dist loadfile $(TESTS)

check: style types layers test ## all that a change has to pass before it is committed: style, types, layers, tests

thousands: $(STAMP) ## 3,000 random cases for each property of the searches, some minutes
	@echo "thousands: $(or $(TESTS),$(SEARCH_PROPERTIES))"
	@$(BIN)/python -m pytest -o timeout=0 --hypothesis-profile thousands \
	  $(or $(TESTS),$(SEARCH_PROPERTIES))

fresh: $(STAMP) ## draw new examples for the property tests, ROUNDS= times, and say how to keep a find
	@found=0; for round in $$(seq $(ROUNDS)); do \
	  seed=$$(od -An -N4 -tu4 /dev/urandom | tr -d ' '); \
	  echo "fresh: round $$round of $(ROUNDS), --hypothesis-seed $$seed"; \
	  $(BIN)/python -m pytest -q -n $(or $(WORKERS),auto) --maxprocesses 4 --dist loadfile -m hypothesis \
	    --hypothesis-profile fresh --hypothesis-seed $$seed $(TESTS) || found=1; \
	done; \
	if [ $$found = 1 ]; then \
	  echo "fresh: to keep a find, write the arguments of its falsifying example above the test, as" \
	    "@example(...), see the test red without $@, and mend the cause (CONTRIBUTING.md)" >&2; \
	  exit 1; \
	fi

fuzz: $(STAMP) ## a million hostile operations on sanitized kernels; OPERATIONS= FILES= SEED=
	@echo "fuzz: building the kernels with sanitizers, then $(or $(OPERATIONS),1000000) operations"
	@$(BIN)/python tests/fuzz/sanitized_run.py $(if $(OPERATIONS),--operations $(OPERATIONS)) \
	  $(if $(SEED),--seed $(SEED))
	@echo "fuzz: $(or $(FILES),100000) ARPA files and as many images of language models"
	@$(BIN)/python tests/fuzz/sanitized_run.py --lms $(if $(FILES),--files $(FILES)) \
	  $(if $(SEED),--seed $(SEED))

races: $(STAMP) ## steps, label loops and beams on several threads under ThreadSanitizer
	@echo "races: building the kernels with the sanitizer, then steps on 2 to 4 threads"
	@PYTHONPATH=tests/fuzz $(BIN)/python tests/fuzz/races/race_run.py

arm-test: $(STAMP) ## the dense layers and threads, compiled for aarch64, in an emulator (qemu-user)
	@echo "arm-test: $(ARM_TESTS)"
	@EARSHOT_MACHINE=aarch64 $(BIN)/python -m pytest $(ARM_TESTS)

wheel: $(STAMP) ## build the wheel, install it elsewhere, run it beside others' models/ and service/
	@.ci/wheel

ci: ## all checks, as on a clean clone (installs packages by apt); says what it leaves out
	@.ci/checks

style: $(STAMP) ## check lint and formatting of Python, C++ and JavaScript
	@echo "style: ruff"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@echo "style: clang-format ($(words $(CSRC)) files)"
	@$(if $(CSRC),$(BIN)/clang-format --dry-run -Werror $(CSRC))
	@if command -v node >/dev/null; then \
	  echo "style: node --check ($(words $(SCRIPTS)) files)"; \
	  for script in $(SCRIPTS); do node --check "$$script" || exit 1; done; \
	else echo "style: node is not here, JavaScript is left unchecked"; fi

format: $(STAMP) ## rewrite Python and C++ in the house format
	@echo "format: ruff, clang-format"
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .
	@$(if $(CSRC),$(BIN)/clang-format -i $(CSRC))

types: $(STAMP) ## check types (mypy --strict)
	@echo "types: mypy"
	@$(BIN)/mypy

stubs: $(STAMP) ## write the stubs of the native libraries anew, after a change of what is bound (needs nvcc)
	@$(BIN)/python tests/native/native_stubs.py

layers: $(STAMP) ## check which package may import which (import-linter)
	@echo "layers: import-linter"
	@$(BIN)/lint-imports --no-cache

gpu: $(STAMP) ## compile the CUDA half (needs nvcc); where a GPU is, check it and time GRAPH=FILE; ONLY= steps
	@command -v nvcc >/dev/null || { echo "make gpu: missing: nvcc (the CUDA toolkit)" >&2; exit 1; }
	@echo "gpu: compiling the CUDA half"
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt \
	  --no-build-isolation --config-settings=cmake.define.EARSHOT_CUDA=ON -e .
	@if nvidia-smi >/dev/null 2>&1; then $(BIN)/python $(GPU_CHECK); \
	else echo "gpu: compiled; no GPU here to run it on"; fi

EMULATOR := build/cuda_emulator
# Where tests of the mark `emulated` lie: to collect all others takes every process half a minute.
EMULATED := tests/cuda_emulator tests/decoder_kernels tests/streaming/engine/test_devices.py \
            tests/streaming/language_models/test_device_engines.py \
            tests/streaming/fastconformer/test_nemo_devices.py tests/streaming/transducer/test_greedy_loop.py
EMULATE   = EARSHOT_EMULATOR=$(CURDIR)/$(EMULATOR) $(BIN)/python

cuda-emulator: $(STAMP)
	@command -v nvcc >/dev/null || { echo "make cuda-test: missing: nvcc (the CUDA toolkit)" >&2; exit 1; }
	@echo "cuda-test: building the CUDA half for the emulated device"
	@PATH=$(CURDIR)/$(BIN):$$PATH cmake -G Ninja -S tests/cuda_emulator -B $(EMULATOR) \
	  -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=g++ -DPython_EXECUTABLE=$(CURDIR)/$(BIN)/python \
	  -Dnanobind_DIR=$$($(BIN)/python -m nanobind --cmake_dir) >/dev/null
	@PATH=$(CURDIR)/$(BIN):$$PATH cmake --build $(EMULATOR) --target all

cuda-test: cuda-emulator ## run the CUDA half's kernels, as nvcc compiles them, on an emulated device; TESTS=
	@echo "cuda-test: $(or $(TESTS),$(EMULATED))"
	@$(EMULATE) -m pytest -m emulated -n $(or $(WORKERS),auto) --maxprocesses 4 \
	  $(or $(TESTS),$(EMULATED))

cuda-fuzz: cuda-emulator ## the operations of make fuzz on the emulated device; OPERATIONS= SEED=
	@echo "cuda-fuzz: $(or $(OPERATIONS),1000000) operations, about 100 a second"
	@PYTHONPATH=tests/fuzz:tests/decoder_kernels:tests/decoder_kernels/lm:tests/cuda_emulator:. OMP_NUM_THREADS=1 $(EMULATE) tests/fuzz/fuzz_searches.py \
	  $(if $(OPERATIONS),--operations $(OPERATIONS)) $(if $(SEED),--seed $(SEED))

cuda-count: cuda-emulator ## count what the CUDA half costs: instructions, barriers, atomics, bytes, registers
	@PYTHONPATH=tests/cuda_emulator:. $(BIN)/python -m benchmarks.cuda.cuda_counts $(EMULATOR)

bench: $(STAMP) ## measure live streams at several counts, or at STREAMS="10 40"
	@echo "bench: live streams, two minutes in real time for each count"
	@$(BIN)/python -m benchmarks.server.live_streams $(if $(STREAMS),--streams $(STREAMS))

LM      := build/language
BOOKS   = $(DATA)/text/books.txt.xz
DOMAINS := librispeech speechocean coffee fsdd wakewords
SAID    := speechocean coffee fsdd wakewords
TUNE    := librispeech librispeech $(DOMAINS) # read speech counts three times
TODAY   := $(if $(SENTENCES),everyday assistant) # of the folder SENTENCES=
HAS_DATA = test -n "$(DATA)" || { \
             echo "$@: DATA= is missing: the folder of speech and text (docs/training.md)" >&2; exit 1; }

bundled-graph: $(STAMP) ## make the bundled model's decoding graph from the text in DATA=
	@$(HAS_DATA)
	@echo "bundled-graph: gathering texts and words from $(DATA)"
	@$(BIN)/python -m earshot.training.texts.language_texts --speech $(DATA)/speech/train.tsv \
	  --dictionary $(DATA)/text/cmudict.dict --out $(LM)
	@echo "bundled-graph: making the language model (of 57 million words: ten minutes, 8 GB of memory)"
	@$(BIN)/earshot lm build $(BOOKS) $(DATA)/text/sentences.txt \
	  --mix $(DOMAINS:%=$(LM)/%.txt) $(TODAY:%=$(SENTENCES)/%.txt) \
	  --tune $(TUNE:%=$(LM)/%.held_out.txt) $(TODAY:%=$(SENTENCES)/%.held_out.txt) \
	  --max-words 75000 --words $(LM)/words.txt --max-ngrams 2400000 --out $(LM)/lm.arpa.gz
	@echo "bundled-graph: building the graph"
	@$(BIN)/earshot graph build --lm $(LM)/lm.arpa.gz --out models/bundled/lm.graph.xz

bundled-neural-lm: $(STAMP) ## train the bundled model's neural language model, of the same text in DATA=
	@$(HAS_DATA)
	@test -n "$(SENTENCES)" || { echo "bundled-neural-lm: SENTENCES= is missing: see docs/graphs.md" >&2; exit 1; }
	@echo "bundled-neural-lm: gathering and cleaning texts from $(DATA)"
	@$(BIN)/python -m earshot.training.texts.language_texts --speech $(DATA)/speech/train.tsv \
	  --dictionary $(DATA)/text/cmudict.dict --out $(LM)
	@$(BIN)/earshot lm clean $(BOOKS) > $(LM)/books.txt
	@$(BIN)/earshot lm clean $(TODAY:%=$(SENTENCES)/%.txt) > $(LM)/today.txt
	@$(BIN)/earshot lm clean $(LM)/librispeech.txt > $(LM)/read.txt
	@$(BIN)/earshot lm clean $(SAID:%=$(LM)/%.txt) > $(LM)/said.txt
	@for name in everyday assistant; do \
	  $(BIN)/earshot lm clean $(SENTENCES)/$$name.held_out.txt > $(LM)/$$name.held_out.txt; done
	@echo "bundled-neural-lm: training, two hours of two cores; stop it and it goes on"
	@$(BIN)/earshot lm train training/neural_lm/recipes/bundled.toml \
	  --data $(LM) --out models/bundled/neural_lm.safetensors

clean: ## remove .venv, build outputs and caches
	@echo "clean: .venv, build, caches"
	@rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
