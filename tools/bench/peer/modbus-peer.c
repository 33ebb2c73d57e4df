/*
 * A Modbus TCP server made of libmodbus, for measurements: it shares no code with
 * the programs it is asked by. It tells the time (CLOCK_MONOTONIC) at which each
 * write had arrived, one line per write: nanoseconds, unit, register, value.
 *
 *   modbus-peer [CHANGES]     prints its port first
 *
 * CHANGES times a second the value of one register is changed, unit after unit.
 */
#include <errno.h>
#include <modbus.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS = 8, UNITS = 256, REGISTERS = 16 };

static long long monotonic(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* changed alters one register, another unit each time. */
static void changed(modbus_mapping_t **units) {
  static unsigned turn;
  unsigned unit = 1 + turn % 100;
  units[unit]->tab_registers[turn / 100 % 10] = 1 + turn * 7 % 100;
  turn++;
}

int main(int argc, char **argv) {
  long changes = argc > 1 ? atol(argv[1]) : 0;
  modbus_mapping_t *units[UNITS];
  for (int i = 0; i < UNITS; i++) {
    if (!(units[i] = modbus_mapping_new(64, 64, REGISTERS, REGISTERS))) return 1;
    for (int k = 0; k < REGISTERS; k++) units[i]->tab_registers[k] = 1 + (i + k) % 100;
  }
  int door = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t len = sizeof at;
  if (door < 0 || bind(door, (struct sockaddr *)&at, len) || listen(door, CLIENTS) || getsockname(door, (struct sockaddr *)&at, &len)) {
    perror("modbus-peer");
    return 1;
  }
  printf("%d\n", ntohs(at.sin_port));
  fflush(stdout);
  modbus_t *ctx = modbus_new_tcp("127.0.0.1", 0);
  struct pollfd fds[1 + CLIENTS] = {{.fd = door, .events = POLLIN}};
  int n = 1;
  long long next = monotonic();
  for (;;) {
    int wait = -1;
    if (changes > 0) {
      while (monotonic() >= next) {
        changed(units);
        next += 1000000000LL / changes;
      }
      wait = (int)((next - monotonic()) / 1000000) + 1;
    }
    if (poll(fds, n, wait) < 0) {
      if (errno == EINTR) continue;
      return 1;
    }
    if (fds[0].revents && n <= CLIENTS) {
      int c = accept(door, NULL, NULL), one = 1;
      if (c >= 0) {
        setsockopt(c, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        fds[n++] = (struct pollfd){.fd = c, .events = POLLIN};
      }
    }
    for (int i = 1; i < n; i++) {
      if (!fds[i].revents) continue;
      unsigned char q[MODBUS_TCP_MAX_ADU_LENGTH];
      modbus_set_socket(ctx, fds[i].fd);
      int got = modbus_receive(ctx, q);
      long long t = monotonic();
      if (got <= 0) {
        close(fds[i].fd);
        fds[i--] = fds[--n];
        continue;
      }
      modbus_reply(ctx, q, got, units[q[6]]);
      if (q[7] == 6) {
        printf("%lld %d %d %d\n", t, q[6], q[8] << 8 | q[9], q[10] << 8 | q[11]);
        fflush(stdout);
      }
    }
  }
}
