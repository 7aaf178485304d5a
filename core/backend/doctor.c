#include "core/backend/doctor.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/backend/accel.h"
#include "core/backend/disk.h"
#include "core/backend/program.h"
#include "core/backend/qemu.h"
#include "core/base/mem.h"

static bool describe_qemu(char *out, size_t size)
{
	struct err e = ERR_INIT;
	char version[128];
	char *program FREE_ON_EXIT = qemu_find_program(&e);
	if (!program) {
		snprintf(out, size, "%s", e.msg);
		return false;
	}
	program_first_line(program, "--version", version, sizeof(version));
	snprintf(out, size, "%s: %s", program, version[0] ? version : "does not tell its version");
	return version[0] != '\0';
}

static bool describe_mkfs(char *out, size_t size)
{
	struct err e = ERR_INIT;
	char *program FREE_ON_EXIT = disk_find_mkfs(&e);
	snprintf(out, size, "%s", program ? program : e.msg);
	return program != NULL;
}

static void describe_kvm(const char *memory_file, struct backend_facts *out)
{
	char why[ACCEL_WHY_SIZE];
	struct accel_answer a;
	bool opens = accel_kvm_opens(why);
	snprintf(out->kvm, sizeof(out->kvm), "%s", opens ? "/dev/kvm opens" : why);
	if (!opens)
		snprintf(out->accelerator, sizeof(out->accelerator), "TCG: %s", why);
	else if (!accel_recall_any(memory_file, &a))
		snprintf(out->accelerator, sizeof(out->accelerator),
		         "not known: KVM has not been tried since this host booted");
	else if (a.works)
		snprintf(out->accelerator, sizeof(out->accelerator), "KVM: it boots a guest");
	else
		snprintf(out->accelerator, sizeof(out->accelerator), "TCG: KVM was tried, %s", a.why);
}

void backend_doctor(const char *memory_file, struct backend_facts *out)
{
	*out = (struct backend_facts){.can_run = false};
	const char *firmware = qemu_find_firmware();
	snprintf(out->firmware, sizeof(out->firmware), "%s",
	         firmware ? firmware : "QEMU's own (the package seabios has one that boots faster)");
	bool qemu = describe_qemu(out->qemu, sizeof(out->qemu));
	bool mkfs = describe_mkfs(out->mkfs, sizeof(out->mkfs));
	out->can_run = qemu && mkfs;
	describe_kvm(memory_file, out);
}
