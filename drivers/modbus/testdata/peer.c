/* An independent Modbus slave: libmodbus (Debian's libmodbus-dev 3.1.6).
 *
 *   gcc peer.c $(pkg-config --cflags --libs libmodbus) -o peer
 *   peer rtu DEVICE | peer tcp PORT
 *
 * Unit 1 has 300 coils, discrete inputs, holding and input registers, all 0. */
#include <errno.h>
#include <modbus.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    int tcp = strcmp(argv[1], "tcp") == 0, listener = -1;
    modbus_t *ctx = tcp ? modbus_new_tcp("127.0.0.1", atoi(argv[2])) : modbus_new_rtu(argv[2], 19200, 'N', 8, 1);
    modbus_mapping_t *map = modbus_mapping_new(300, 300, 300, 300);
    if (!ctx || !map) return 1;
    if (tcp) {
        listener = modbus_tcp_listen(ctx, 1);
        if (listener < 0) { perror("listen"); return 1; }
    } else {
        modbus_set_slave(ctx, 1);
        if (modbus_connect(ctx) < 0) { perror("open"); return 1; }
    }
    for (;;) {
        uint8_t query[MODBUS_TCP_MAX_ADU_LENGTH];
        if (tcp && modbus_tcp_accept(ctx, &listener) < 0) return 1;
        for (;;) {
            int n = modbus_receive(ctx, query);
            if (n > 0) modbus_reply(ctx, query, n, map);
            else if (n < 0 && (tcp || errno == EIO)) break;
        }
        if (!tcp) return 0;
        modbus_close(ctx);
    }
}
