# Releases

#: REGISTRY=ghcr.io/x/y   images: where to push the images
#: TAG=v1.0.0             release, images: the version, which package.json must have

.PHONY: packages release deb test-release images release-modules tag

packages: client cli ## Write the npm packages to dist/
	$(TSX) tools/pack.ts client dist
	$(TSX) tools/pack.ts cli dist

release: release-modules packages ## Write archives for both processors, npm packages, and lists of components to dist/
	$(foreach arch,$(RELEASED),tools/package tar $(arch) build/release/$(arch)/redis-roar.so dist &&) true
	$(TSX) tools/sbom.ts dist
	@cd dist && sha256sum redis-roar* > SHA256SUMS

deb: release-modules ## Write Debian packages for both processors to dist/
	$(foreach arch,$(RELEASED),tools/package deb $(arch) build/release/$(arch)/redis-roar.so dist &&) true
	@cd dist && sha256sum redis-roar* > SHA256SUMS

test-release: release deb ## Build the release again elsewhere, compare, and try it on Debian 11, 12 and 13; root only
	@tools/setup fresh
	@tools/build-again dist
	@tools/try-release dist

images:              ## Build the Docker images on Redis and Valkey, and try each; with REGISTRY and TAG, push them
	@tools/images $(if $(REGISTRY),$(REGISTRY) $(TAG:v%=%))

# What is released does not depend on this machine's compiler and C library, and works with old ones.
RELEASED     := x86_64 aarch64
OLDEST_GLIBC := 2.17

release-modules: tag $(RELEASED:%=release-%)

tag:
	$(if $(TAG),@grep -q '"version": "$(TAG:v%=%)"' package.json || { echo 'package.json has another version than $(TAG)'; exit 1; })
	$(if $(TAG),@grep -q '"author": ".* <.*@.*>"' package.json || { echo 'package.json needs an author with an e-mail address: the packages name a maintainer'; exit 1; })

$(RELEASED:%=release-%): release-%: tag
	@$(MAKE) --no-print-directory setup module ARCH=$* O=build/release/$* CC=clang-19 CFLAGS= GLIBC=$(OLDEST_GLIBC)
