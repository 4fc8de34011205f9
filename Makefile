# make bench needs nothing but Go. What each other target needs stands beside it.

GO          ?= go
STATICCHECK ?= honnef.co/go/tools/cmd/staticcheck@v0.8.2

# The race detector needs a C compiler; go turns cgo off where it finds none.
ifeq ($(shell $(GO) env CGO_ENABLED),1)
RACE      := -race
RACE_NOTE := on, C compiler $(shell $(GO) env CC)
else
RACE      :=
RACE_NOTE := off, it needs a C compiler and cgo
endif

# A published result says when and on what kind of machine it was made.
MACHINE   ?= $(shell uname -sm | tr 'A-Z ' 'a-z-')-$(shell getconf _NPROCESSORS_ONLN)cpu
PUBLISHED ?= results/published/$(shell date -u +%Y-%m-%d)-$(MACHINE)

.PHONY: bench test lint overhead reference

bench: ## the whole main job in under two minutes: measure, chart, report
	$(GO) run ./cmd/lockbench run quickstart

test: ## vet and all tests; LOCKBENCH_REQUIRE=redis,docker,java turns a skipped real-server test into a failure
	@echo "race detector: $(RACE_NOTE)"
	$(GO) vet ./...
	$(GO) test $(RACE) ./...

lint: ## gofmt, go vet, staticcheck; fetches staticcheck at first, go.mod stays as it is
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt -w needed:"; echo "$$unformatted"; exit 1; }
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...

overhead: ## what lockbench itself costs, against a bare client loop; needs redis-server
	$(GO) test -count=1 -timeout 20m -v -run '^TestOverheadReport$$' ./internal/bench -overhead
	$(GO) test -run '^$$' -bench . -benchmem ./internal/...

reference: ## the runs behind the README's figures; needs redis-server
	$(GO) run ./cmd/lockbench run quickstart retry-storm --out $(PUBLISHED)
