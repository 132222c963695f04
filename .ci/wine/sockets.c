// A stand-in for ws2_32.dll, which handles two socket options and forwards everything else to that
// library. Wine refuses these options, which Windows has, and quinn accepts no socket without them.
// One asks for the ECN bits of datagrams. The stand-in accepts and ignores it, because quinn also
// works without these bits. The other is `IPV6_V6ONLY`, which quinn reads from IPv4 sockets, too.
#include <winsock2.h>

#include <ws2tcpip.h>

// `IP_RECVECN` and `IPV6_RECVECN`, which the headers do not have.
#define RECEIVE_ECN 50

int WSAAPI set_option(SOCKET socket, int level, int name, const char *value, int length) {
  int outcome = setsockopt(socket, level, name, value, length);
  int is_ecn = (level == IPPROTO_IP || level == IPPROTO_IPV6) && name == RECEIVE_ECN;
  return is_ecn ? 0 : outcome;
}

int WSAAPI get_option(SOCKET socket, int level, int name, char *value, int *length) {
  int outcome = getsockopt(socket, level, name, value, length);
  if (outcome == SOCKET_ERROR && level == IPPROTO_IPV6 && name == IPV6_V6ONLY) {
    *(DWORD *)value = TRUE;
    return 0;
  }
  return outcome;
}
