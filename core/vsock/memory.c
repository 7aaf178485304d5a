#include "core/vsock/memory.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void memory_init(struct memory *m)
{
	m->count = 0;
}

void memory_finish(struct memory *m)
{
	for (size_t i = 0; i < m->count; i++) {
		if (m->pieces[i].map_len)
			munmap(m->pieces[i].host, m->pieces[i].map_len);
	}
	m->count = 0;
}

static bool overlaps(uint64_t a, uint64_t a_len, uint64_t b, uint64_t b_len)
{
	return a < b + b_len && b < a + a_len;
}

static bool check_region(const struct memory *m, const struct memory_region *r, struct err *e)
{
	uint64_t end;
	if (m->count == MEMORY_MOST_REGIONS)
		return err_set(e, ERR_LIMIT, "more than %d memory regions", MEMORY_MOST_REGIONS);
	if (r->size == 0 || __builtin_add_overflow(r->gpa, r->size, &end) ||
	    __builtin_add_overflow(r->uva, r->size, &end) ||
	    __builtin_add_overflow(r->offset, r->size, &end) || end > INT64_MAX || r->size > SIZE_MAX / 2)
		return err_set(e, ERR_PROTOCOL, "memory region of %#llx bytes at %#llx does not fit",
		               (unsigned long long)r->size, (unsigned long long)r->gpa);
	for (size_t i = 0; i < m->count; i++) {
		const struct memory_region *o = &m->pieces[i].at;
		if (overlaps(r->gpa, r->size, o->gpa, o->size) || overlaps(r->uva, r->size, o->uva, o->size))
			return err_set(e, ERR_PROTOCOL, "memory regions overlap at %#llx",
			               (unsigned long long)r->gpa);
	}
	return true;
}

bool memory_add(struct memory *m, const struct memory_region *r, void *host, struct err *e)
{
	if (!check_region(m, r, e))
		return false;
	m->pieces[m->count++] = (struct memory_piece){.at = *r, .host = host};
	return true;
}

bool memory_map(struct memory *m, const struct memory_region *r, int fd, struct err *e)
{
	struct stat st;
	if (!check_region(m, r, e))
		return false;
	if (r->offset % (uint64_t)sysconf(_SC_PAGESIZE))
		return err_set(e, ERR_PROTOCOL, "memory region starts inside a page of its file");
	if (fstat(fd, &st) != 0)
		return err_sys(e, errno, "guest memory");
	if (st.st_size < 0 || r->offset + r->size > (uint64_t)st.st_size)
		return err_set(e, ERR_PROTOCOL, "memory region ends behind the end of its file");
	void *host = mmap(NULL, (size_t)r->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)r->offset);
	if (host == MAP_FAILED)
		return err_sys(e, errno, "map guest memory");
	madvise(host, (size_t)r->size,
	        MADV_DONTDUMP); /* a guest's memory is not ours to put into a core file */
	m->pieces[m->count++] = (struct memory_piece){.at = *r, .host = host, .map_len = (size_t)r->size};
	return true;
}

void *memory_at_uva(const struct memory *m, uint64_t uva, uint64_t len)
{
	for (size_t i = 0; i < m->count; i++) {
		const struct memory_piece *p = &m->pieces[i];
		uint64_t into = uva - p->at.uva;
		if (uva >= p->at.uva && into < p->at.size && len <= p->at.size - into)
			return p->host + into;
	}
	return NULL;
}

void *memory_span(const struct memory *m, uint64_t gpa, uint64_t len, uint64_t *got)
{
	for (size_t i = 0; i < m->count; i++) {
		const struct memory_piece *p = &m->pieces[i];
		uint64_t into = gpa - p->at.gpa;
		if (gpa >= p->at.gpa && into < p->at.size) {
			uint64_t left = p->at.size - into;
			*got = len < left ? len : left;
			return p->host + into;
		}
	}
	return NULL;
}

void *memory_at_gpa(const struct memory *m, uint64_t gpa, uint64_t len)
{
	uint64_t got;
	void *p = memory_span(m, gpa, len, &got);
	return p && got == len ? p : NULL;
}
