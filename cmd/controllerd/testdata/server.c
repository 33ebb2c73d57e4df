/* An independent Modbus TCP server with the register maps of real devices:
 * libmodbus (Debian's libmodbus-dev 3.1.6).
 *
 *   gcc server.c $(pkg-config --cflags --libs libmodbus) -o server
 *   server PORT
 *
 * The same units as in server.py. Any number of clients. */
#include <modbus.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/select.h>
#include <unistd.h>

enum { UNITS = 6, SIZE = 5000 };

/* mirror shows the written levels in the registers that are read, and switches.
 * query is a write of registers (function 06 or 10). */
static void mirror(modbus_mapping_t *m, const uint8_t *query, int written, int read, int coil, int count) {
    int address = query[8] << 8 | query[9];
    int quantity = query[7] == 0x06 ? 1 : query[7] == 0x10 ? query[10] << 8 | query[11] : 0;
    for (int i = 0; i < count; i++) {
        if (written + i < address || written + i >= address + quantity) continue;
        m->tab_registers[read + i] = m->tab_registers[written + i];
        m->tab_bits[coil + i] = m->tab_registers[written + i] > 0;
    }
}

int main(int argc, char **argv) {
    if (argc != 2) return 2;
    modbus_t *ctx = modbus_new_tcp("127.0.0.1", atoi(argv[1]));
    modbus_mapping_t *map[UNITS + 1];
    for (int i = 0; i <= UNITS; i++)
        if (!(map[i] = modbus_mapping_new(SIZE, SIZE, SIZE, SIZE))) return 1;
    map[3]->tab_registers[4000] = 256;
    map[4]->tab_registers[4000] = 34;
    int listener = modbus_tcp_listen(ctx, 8);
    if (listener < 0) { perror("listen"); return 1; }
    fd_set all;
    FD_ZERO(&all);
    FD_SET(listener, &all);
    int top = listener;
    for (;;) {
        fd_set ready = all;
        if (select(top + 1, &ready, NULL, NULL, NULL) < 0) return 1;
        for (int fd = 0; fd <= top; fd++) {
            if (!FD_ISSET(fd, &ready)) continue;
            if (fd == listener) {
                int client = modbus_tcp_accept(ctx, &listener);
                if (client < 0) continue;
                FD_SET(client, &all);
                if (client > top) top = client;
                continue;
            }
            uint8_t query[MODBUS_TCP_MAX_ADU_LENGTH];
            modbus_set_socket(ctx, fd);
            int n = modbus_receive(ctx, query);
            if (n < 0) { close(fd); FD_CLR(fd, &all); continue; }
            int unit = query[6];
            if (n == 0 || unit < 1 || unit > UNITS) continue; /* nobody there: silence */
            modbus_reply(ctx, query, n, map[unit]);
            if (unit == 1) mirror(map[1], query, 4, 0, 0, 3);
            if (unit == 5) mirror(map[5], query, 20, 16, 16, 4);
        }
    }
}
