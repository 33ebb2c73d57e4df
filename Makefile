# make run    a demo building, ready to be commanded; Ctrl-C stops everything
# make test   every test, with the programs from Debian that they talk to (go test ./... needs none, and leaves out what waits long)
# make help   the rest

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
GO ?= go
VERSION ?= $(shell ./scripts/version.sh 2>/dev/null || echo development)
LDFLAGS := -s -w -X main.version=$(VERSION)
# Races are looked for in what uses it, not inside SQLite, which is C turned into Go, Argon2 and regular expressions, which made up half
# of all tests' time, nor in what reads a sentence, a function that keeps nothing. Misuse of unsafe pointers is looked for in our code
# and in modules, not in the standard library.
RACE := -race -gcflags='std=-d=checkptr=0' -gcflags='regexp/...=-race=false -d=checkptr=0' -gcflags='modernc.org/...=-race=false -d=checkptr=0' -gcflags='golang.org/x/crypto/argon2=-race=false' -gcflags='svc.internal/controller/platform/understand=-race=false'
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
export CGO_ENABLED ?= 0
# Without the folder's name in them, what is compiled for one of the targets below serves the others, and other clones.
export GOFLAGS := $(GOFLAGS) -trimpath

.PHONY: help run test build lint lint-pages vulnerabilities bench soak mutants cross peers install deb deb-test image image-offline image-test

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

build: ## the programs, for this machine
	@command -v $(GO) >/dev/null || { echo "Go 1.26 or newer is needed: https://go.dev/doc/install"; exit 1; }
	@mkdir -p bin
	@echo "Building controllerd, simbuilding and platformd; the first time this takes a minute or two and names every package …"
	@$(GO) build -v -ldflags '$(LDFLAGS)' -o bin/ ./cmd/...

# make build  the programs, into bin/
# make lint   formatting, go.mod, vet and staticcheck; ESLint and types of the pages
# make vulnerabilities  known holes in what our programs reach; asks the Go module proxy alone
# make bench  every figure of the first table of docs/performance.md, and the platform's check of a key, as ratios in one run
# make soak   the long form of every campaign: hours of faults in an hour
# make mutants  every mechanism of the core switched off, one by one: a unit test must notice
# make cross  static binaries for linux/arm v7, arm64 and amd64, into bin/

# make deb    Debian packages of both daemons for amd64, arm64 and armhf, into output/deb; make deb ARCH=arm64 for one
# make deb-test  the packages of this machine, installed, upgraded, removed and purged in a Debian system of their own
# make image BOARD=qemu_aarch64  the image and update bundle of a board, into output/image (buildroot/README.md: what was tried)
# make image-offline  the same for qemu_aarch64, with Debian as the only source; BOARD=…: our packages for another board
# make image-test  an ARM system with the daemon in it, booted in QEMU and put to the test
# make install DESTDIR=…  both daemons with units, users, manual pages and completions
run: build
	@./demo/run.sh

peers: ## what the tests talk to, from Debian
	./scripts/install-peers.sh

# Three packages and four tests of each at once: some wait for what is not a processor, and more would wait for each other's. Those that
# take longest begin. What go vet finds is found by make lint. Where races are looked for, a tenth is done of what only computes, and
# after that the whole of it.
test: peers
	CGO_ENABLED=1 COMMANDS=50 $(GO) test -vet=off -tags peers $(RACE) -shuffle=on -p 3 -parallel 4 -timeout 60m ./cmd/controllerd ./cmd/platformd ./platform/assistant ./...
	$(GO) test -vet=off ./appliance/... ./automation ./platform/assistant ./store/past
	COMMANDS=10000 $(GO) test -vet=off -count=1 -run 'HistoryCampaign|OrdersTold' ./cmd/controllerd

lint: lint-pages
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); if [ -n "$$unformatted" ]; then echo "not gofmt-ed: $$unformatted"; exit 1; fi
	$(GO) mod tidy -diff
	./scripts/mutants.sh -n
	$(GO) vet ./... && $(GO) vet -tags peers,image,built,soak ./...
	$(GO) run $(STATICCHECK) -tags peers,image,built,soak ./...

vulnerabilities:
	./scripts/vulnerabilities.sh

lint-pages: # with what npm brings into .peers
	./scripts/install-peers.sh pages
	.peers/pages/node_modules/.bin/eslint .
	.peers/pages/node_modules/.bin/tsc -p .

bench:
	./scripts/bench.sh
	$(GO) test -run '^$$' -bench ToolsList -benchtime 20x ./cmd/platformd

soak: peers
	SOAK=1 CGO_ENABLED=1 $(GO) test -tags peers,soak -count=1 -timeout 6h -v -run 'Campaign|Soak|EveryLook' ./...
	./scripts/fuzz.sh 60s
	SOAK=1 $(MAKE) image-test

mutants:
	./scripts/mutants.sh

cross:
	mkdir -p bin/linux-armv7 bin/linux-arm64 bin/linux-amd64
	GOOS=linux GOARCH=arm GOARM=7 $(GO) build -ldflags '$(LDFLAGS)' -o bin/linux-armv7/ ./cmd/...
	GOOS=linux GOARCH=arm64 $(GO) build -ldflags '$(LDFLAGS)' -o bin/linux-arm64/ ./cmd/...
	GOOS=linux GOARCH=amd64 $(GO) build -ldflags '$(LDFLAGS)' -o bin/linux-amd64/ ./cmd/...

deb:
	./scripts/deb.sh $(ARCH)

deb-test:
	rm -f output/deb/*_$$(dpkg --print-architecture).deb
	./scripts/deb.sh $$(dpkg --print-architecture)
	for deb in output/deb/*_$$(dpkg --print-architecture).deb; do ./scripts/deb-test.sh "$$deb"; done

install: build
	./scripts/manuals.sh bin/manuals
	./scripts/install.sh "$(DESTDIR)" bin bin/manuals

image-test: image = $(wildcard $(or $(IMAGE_DIR),output/image)/*/sdcard.img)
image-test:
	./scripts/install-peers.sh image
	$(GO) test -count=1 -tags "image $(if $(image),built)" -timeout 150m -v ./buildroot

image:
	$(if $(wildcard buildroot/board/$(BOARD)/debian.txt),./scripts/install-peers.sh image-offline)
	./scripts/image.sh $(BOARD)

image-offline:
	./scripts/install-peers.sh image-offline
	./scripts/image.sh $(or $(BOARD),qemu_aarch64) offline
