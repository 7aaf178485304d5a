/* Which connection has which pair of ports, and RSTs owed for pairs that have none. */
#ifndef CCVM_VSOCK_TABLE_H
#define CCVM_VSOCK_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/vsock/connection.h"

#define TABLE_BUCKETS   256
#define TABLE_RESETS    128        /* RSTs that may wait for a receive buffer */
#define TABLE_HOST_PORT (1u << 30) /* host ports that we hand out: [2^30, 2^31) */

struct table_pair {
	uint32_t guest_port, host_port;
};

struct table {
	struct connection *buckets[TABLE_BUCKETS]; /* borrowed, chained by next_in_table */
	uint32_t next_host_port;                   /* offset from TABLE_HOST_PORT */
	struct table_pair resets[TABLE_RESETS];
	unsigned first_reset, reset_count;
};

struct connection *table_find(const struct table *t, uint32_t guest_port, uint32_t host_port);
void table_add(struct table *t, struct connection *c);    /* its pair must be free */
void table_remove(struct table *t, struct connection *c); /* harmless when it is not in */
uint32_t table_new_host_port(struct table *t, uint32_t guest_port);

/* Owes the guest an RST. False: too many are waiting and this one is dropped (the guest then times out). */
bool table_push_reset(struct table *t, uint32_t guest_port, uint32_t host_port);
const struct table_pair *table_first_reset(const struct table *t); /* NULL: none */
void table_pop_reset(struct table *t);
void table_drop_resets(struct table *t);

#endif
