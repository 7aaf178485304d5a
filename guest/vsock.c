#include "guest/vsock.h"

#include <errno.h>
#include <sys/socket.h>
#include <linux/vm_sockets.h>

#include "core/base/fd.h"

static int open_socket(struct err *e)
{
	int fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		err_sys(e, errno, "vsock socket");
	return fd;
}

int vsock_dial(uint32_t port, struct err *e)
{
	struct sockaddr_vm addr = {.svm_family = AF_VSOCK, .svm_cid = VMADDR_CID_HOST, .svm_port = port};
	int fd = open_socket(e);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&addr, sizeof(addr)) != 0 && errno != EINPROGRESS) {
		err_sys(e, errno, "connect to vsock port %u of the host", port);
		fd_close(&fd);
	}
	return fd;
}

int vsock_listen(uint32_t port, struct err *e)
{
	struct sockaddr_vm addr = {.svm_family = AF_VSOCK, .svm_cid = VMADDR_CID_ANY, .svm_port = port};
	int fd = open_socket(e);
	if (fd >= 0 && (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) != 0 || listen(fd, 128) != 0)) {
		err_sys(e, errno, "listen on vsock port %u", port);
		fd_close(&fd);
	}
	return fd;
}

int socket_outcome(int fd)
{
	int code = 0;
	socklen_t len = sizeof(code);
	return getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &len) == 0 ? code : errno;
}

int socket_accept(int fd)
{
	int conn;
	do {
		conn = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	} while (conn < 0 && (errno == EINTR || errno == ECONNABORTED));
	return conn;
}
