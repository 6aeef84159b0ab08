# Two commands do everything: `make demo` shows the whole chain, `make test` checks it.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
DEMO ?= .cache/demo

.PHONY: demo demo-bundle test dashboard docs wheel-test lint types pytest fuzz browser-note rtsp-note postgres-note ray-note clean
.DEFAULT_GOAL := demo

# The stamp is newer than what it depends on, so a second run installs nothing.
$(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing about 7 GB, torch with its CUDA libraries 5 of them: a few minutes"
	$(BIN)/python -m pip install --disable-pip-version-check -c constraints.txt -e ".[train,fleet,dev]"
	@touch $(STAMP)

# First from the videos alone, then with the labels of four demonstrations: that bundle guides.
demo: $(STAMP)
	$(BIN)/python -m offline.study.show --data $(DEMO) --unlabelled exported/demo-unlabelled --out exported/demo --labelled 4

# Only what the dashboard plays: the recordings, and the bundle that guides.
demo-bundle: $(STAMP)
	$(BIN)/python -m offline.study.show --data $(DEMO) --out exported/demo --labelled 4

# The demo's recordings are played on the first page: both must be there.
dashboard: $(STAMP)
	@$(BIN)/python -m guide check exported/demo >/dev/null 2>&1 && ls $(DEMO)/live/*.mp4 >/dev/null 2>&1 || { \
	  echo "No demo yet: its recordings are drawn and learned first, which takes several minutes."; \
	  $(MAKE) demo-bundle; }
	CNC_DEMO=$(DEMO) $(BIN)/streamlit run streamlit_app.py

# The site, in site/index.html; a link or an anchor that leads nowhere ends it.
docs: $(STAMP)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --clean
	@echo "Wrote site/index.html."

# Wheel and sdist, installed with all they need into new environments: minutes, and 7 GB with EXTRA=train.
wheel-test: $(STAMP)
	$(BIN)/python tests/installed.py --extra "$(EXTRA)"

test: $(STAMP) lint types browser-note rtsp-note postgres-note ray-note pytest

lint: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(STAMP)
	$(BIN)/mypy

pytest: $(STAMP)
	$(BIN)/python -m pytest

# 20,700 inputs: 7 x 2,300 to the server, 2 x 2,300 as files; half an hour on one core.
fuzz: $(STAMP)
	CNC_FUZZ=2300 $(BIN)/python -m pytest tests/faults/test_serve_fuzz.py tests/faults/test_files_fuzz.py

# Browser tests are left out where there is no Chromium, unless REQUIRE_BROWSER=1 asks for them.
browser-note:
	@command -v chromium >/dev/null 2>&1 || \
	  if [ "$$REQUIRE_BROWSER" = 1 ]; then \
	    echo "REQUIRE_BROWSER=1 but no Chromium was found: install the package chromium."; exit 2; \
	  else \
	    echo "No Chromium: tests/guide/ui/test_dashboard_browser.py is left out."; \
	  fi

# The same for GStreamer's RTSP server and REQUIRE_RTSP=1.
rtsp-note:
	@/usr/bin/python3 -c "import gi; gi.require_version('GstRtspServer', '1.0')" 2>/dev/null || \
	  if [ "$$REQUIRE_RTSP" = 1 ]; then \
	    echo "REQUIRE_RTSP=1 but no RTSP server was found: install the packages named in .ci/run."; exit 2; \
	  else \
	    echo "No RTSP server: the RTSP rows of tests/contracts and tests/faults are left out."; \
	  fi

# The same for PostgreSQL and REQUIRE_POSTGRES=1.
postgres-note:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || \
	  if [ "$$REQUIRE_POSTGRES" = 1 ]; then \
	    echo "REQUIRE_POSTGRES=1 but no PostgreSQL was found: install the package postgresql."; exit 2; \
	  else \
	    echo "No PostgreSQL: the rows of tests/contracts/test_stores.py and tests/faults that need it are left out."; \
	  fi

# The same for Ray and REQUIRE_RAY=1; installing here brings it along, so it lacks only where there is no build of it.
ray-note:
	@$(BIN)/python -c "import ray" 2>/dev/null || \
	  if [ "$$REQUIRE_RAY" = 1 ]; then \
	    echo "REQUIRE_RAY=1 but no Ray was found: install the extra fleet."; exit 2; \
	  else \
	    echo "No Ray: the tests that need a cluster (tests/offline/test_fleet.py, tests/faults/test_fleet.py, tests/guide/fleet/test_cluster.py) are left out."; \
	  fi

clean:
	rm -rf .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis
