include $(sort $(wildcard $(BR2_EXTERNAL_CONTROLLER_PATH)/package/*/*.mk))

# "make image-offline" builds systemd from Debian's sources, which are a version older and know some settings not yet.
ifneq ($(CONTROLLER_TOOLCHAIN),)
SYSTEMD_CONF_OPTS := $(filter-out -Dlibmount=% -Dnspawn=%,$(SYSTEMD_CONF_OPTS))
endif

# Nothing is linked with OpenSSL statically, and half of what it compiles is for that.
define CONTROLLER_OPENSSL_WITHOUT_STATIC
	$(SED) '/^LIBS=/s/libcrypto\.a libssl\.a//; s/^INSTALL_LIBS=.*/INSTALL_LIBS=/' $(@D)/Makefile
endef
LIBOPENSSL_POST_CONFIGURE_HOOKS += CONTROLLER_OPENSSL_WITHOUT_STATIC
