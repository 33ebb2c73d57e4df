include $(sort $(wildcard $(BR2_EXTERNAL_CONTROLLER_PATH)/package/*/*.mk))

# "make image-offline" builds systemd from Debian's sources, which are a version older and know some settings not yet.
ifneq ($(CONTROLLER_TOOLCHAIN),)
SYSTEMD_CONF_OPTS := $(filter-out -Dlibmount=% -Dnspawn=%,$(SYSTEMD_CONF_OPTS))
endif
