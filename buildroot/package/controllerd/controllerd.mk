################################################################################
#
# controllerd
#
################################################################################

# The external tree lies in the daemon's own source tree. Its modules come from
# the vendor directory that scripts/image.sh makes in a copy of that tree.
CONTROLLERD_VERSION = $(subst +,-,$(CONTROLLER_VERSION))
CONTROLLERD_SITE = $(CONTROLLER_SOURCE)
CONTROLLERD_SITE_METHOD = local
CONTROLLERD_LICENSE = Proprietary
CONTROLLERD_GOMOD = svc.internal/controller
CONTROLLERD_BUILD_TARGETS = cmd/controllerd
CONTROLLERD_LDFLAGS = -s -w -X main.version=$(CONTROLLER_VERSION)
CONTROLLERD_GO_ENV = CGO_ENABLED=0

define CONTROLLERD_INSTALL_INIT_SYSTEMD
	$(@D)/scripts/install.sh $(TARGET_DIR) $(@D)/bin - controllerd
endef

$(eval $(golang-package))
