/* proxy/address: what may be dialled after a lookup. */
#include "tests/lib/test.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "core/base/check.h"
#include "core/egress/rule.h"
#include "proxy/address.h"

static union endpoint address(const char *text)
{
	union endpoint a;
	memset(&a, 0, sizeof(a));
	if (strchr(text, ':')) {
		a.v6.sin6_family = AF_INET6;
		assert_int_equal(inet_pton(AF_INET6, text, &a.v6.sin6_addr), 1);
	} else {
		a.v4.sin_family = AF_INET;
		assert_int_equal(inet_pton(AF_INET, text, &a.v4.sin_addr), 1);
	}
	return a;
}

static void public_addresses_pass(void **state)
{
	(void)state;
	static const char *const GOOD[] = {
	    "1.1.1.1",          "9.255.255.255",        "11.0.0.0",           "100.63.255.255",
	    "100.128.0.0",      "126.255.255.255",      "128.0.0.0",          "169.253.255.255",
	    "172.15.255.255",   "172.32.0.0",           "192.0.1.0",          "192.167.255.255",
	    "192.169.0.0",      "198.17.255.255",       "198.20.0.0",         "223.255.255.255",
	    "2606:4700::1111",  "2001:4860:4860::8888", "2a00:1450::200e",    "::ffff:8.8.8.8",
	    "64:ff9b::808:808", "2002:808:808::1",      "2a00::5efe:808:808", "2001:200::1",
	};
	for (size_t i = 0; i < ARRAY_LEN(GOOD); i++) {
		union endpoint a = address(GOOD[i]);
		if (!address_is_public(&a.any))
			fail_msg("%s", GOOD[i]);
	}
}

static void others_are_refused_in_every_disguise(void **state)
{
	(void)state;
	static const char *const BAD[] = {
	    "0.0.0.0",
	    "0.1.2.3",
	    "10.0.0.1",
	    "10.255.255.255",
	    "100.64.0.0",
	    "100.100.100.200",
	    "100.127.255.255",
	    "127.0.0.1",
	    "127.255.255.255",
	    "169.254.169.254",
	    "172.16.0.1",
	    "172.31.255.255",
	    "192.0.0.192",
	    "192.0.2.1",
	    "192.88.99.1",
	    "192.168.0.1",
	    "198.18.0.1",
	    "198.19.255.255",
	    "198.51.100.1",
	    "203.0.113.1",
	    "224.0.0.1",
	    "239.255.255.255",
	    "240.0.0.1",
	    "255.255.255.255",
	    "::",
	    "::1",
	    "fc00::1",
	    "fd00:ec2::254",
	    "fe80::1",
	    "fec0::1",
	    "ff02::1",
	    "2001:db8::1",
	    "100::1",
	    "::ffff:127.0.0.1",
	    "::ffff:10.0.0.1",
	    "::127.0.0.1",
	    "::ffff:0:7f00:1",
	    "64:ff9b::7f00:1",
	    "64:ff9b::a9fe:a9fe",
	    "64:ff9b:1::808:808",
	    "64:ff9b:1:2::1",
	    "2002:a9fe:a9fe::",
	    "2002:7f00:1::1",
	    "2001::5601:5601",
	    "2001:0:808:808::1",
	    "2a00::5efe:7f00:1",
	    "2a00::200:5efe:a00:1",
	    "fe80::5efe:808:808",
	    "3fff::1",
	    "4000::1",
	    "1::1",
	    "2001:10::1",
	};
	for (size_t i = 0; i < ARRAY_LEN(BAD); i++) {
		union endpoint a = address(BAD[i]);
		if (address_is_public(&a.any))
			fail_msg("%s", BAD[i]);
	}
	struct sockaddr other = {.sa_family = AF_UNIX};
	assert_false(address_is_public(&other));
}

static void disguises_are_equal(void **state)
{
	(void)state;
	union endpoint a = address("8.8.8.8"), b = address("::ffff:8.8.8.8"), c = address("8.8.8.9");
	b.v6.sin6_port = htons(5);
	assert_true(address_equal(&a.any, &b.any));
	assert_false(address_equal(&a.any, &c.any));
	struct sockaddr other = {.sa_family = AF_UNIX};
	assert_false(address_equal(&other, &other));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(public_addresses_pass),
	    cmocka_unit_test(others_are_refused_in_every_disguise),
	    cmocka_unit_test(disguises_are_equal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
