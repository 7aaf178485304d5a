#include "guest/net.h"

#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "core/base/fd.h"

static int any_socket(void)
{
	return socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

bool net_lo_up(struct err *e)
{
	struct ifreq ifr = {.ifr_name = "lo"};
	int fd CLOSE_ON_EXIT = any_socket();
	if (fd < 0 || ioctl(fd, SIOCGIFFLAGS, &ifr) != 0)
		return err_sys(e, errno, "flags of lo");
	ifr.ifr_flags = (short)(ifr.ifr_flags | IFF_UP | IFF_RUNNING);
	if (ioctl(fd, SIOCSIFFLAGS, &ifr) != 0)
		return err_sys(e, errno, "bring lo up");
	return true;
}

bool net_lo_is_up(void)
{
	struct ifreq ifr = {.ifr_name = "lo"};
	int fd CLOSE_ON_EXIT = any_socket();
	return fd >= 0 && ioctl(fd, SIOCGIFFLAGS, &ifr) == 0 && (ifr.ifr_flags & IFF_UP) &&
	       (ifr.ifr_flags & IFF_RUNNING);
}

int net_listen_loopback(uint16_t port, struct err *e)
{
	struct sockaddr_in addr = {.sin_family = AF_INET, .sin_port = htons(port)};
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int one = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
	    bind(fd, (struct sockaddr *)&addr, sizeof(addr)) != 0 || listen(fd, 512) != 0) {
		err_sys(e, errno, "listen on 127.0.0.1:%u", port);
		fd_close(&fd);
	}
	return fd;
}
