# Each target is one call of scripts/setup.py; without make: python scripts/setup.py demo
PYTHON ?= python3

.PHONY: demo env test test-all test-extras check docs lock
demo env test test-all test-extras check docs lock:
	@$(PYTHON) scripts/setup.py $@ $(ARGS)
