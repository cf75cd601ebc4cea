import { expect, test } from "vitest";
import { type IpRange, rangeOf } from "./ip-range.ts";
import { spellingsOf } from "./ip-spellings.suite.ts";

test.each([
  "8.8.8.8",
  "1.1.1.1",
  "172.15.255.255",
  "172.32.0.0",
  "100.63.255.255",
  "192.169.0.1",
  "2606:4700:4700::1111",
  "2001:4860:4860::8888",
  "::ffff:8.8.8.8",
  "64:ff9b::808:808",
  "2002:808:808::1",
])("%s is public", (address) => {
  expect(rangeOf(address)).toBe("public");
});

test.each([
  "127.0.0.1",
  "127.255.255.254",
  "0.0.0.0",
  "10.0.0.1",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "100.64.0.1",
  "::1",
  "::",
  "fd12:3456::1",
  "fc00::",
  "::ffff:127.0.0.1",
  "::ffff:7f00:1",
  "::127.0.0.1",
  "64:ff9b::10.0.0.1",
  "2002:a00:1::",
])("%s is private", (address) => {
  expect(rangeOf(address)).toBe("private");
});

test.each([
  "169.254.169.254",
  "169.254.0.1",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "224.0.0.1",
  "255.255.255.255",
  "fe80::1",
  "fe80::1%eth0",
  "febf::1",
  "ff02::1",
  "fd00:ec2::254",
  "fd00:0ec2:0:0:0:0:0:254",
  "::ffff:169.254.169.254",
  "::ffff:a9fe:a9fe",
  "64:ff9b::a9fe:a9fe",
  "2002:a9fe:a9fe::",
  "2001:0:1234::1",
])("at %s there is never an app", (address) => {
  expect(rangeOf(address)).toBe("never");
});

test.each([
  "",
  "example.com",
  "1.2.3",
  "1.2.3.4.5",
  "256.1.1.1",
  ":::",
  "1::2::3",
  "12345::",
  "g::1",
  "1:2:3:4:5:6:7:8:9",
  "::1.2.3",
  "1:2:3:4:5:6:7",
  // Octal to some: 10.0.0.1 and 127.0.0.1.
  "012.0.0.1",
  "0177.0.0.1",
  "127.0.0.01",
  "::ffff:012.0.0.1",
])("%s is no address", (text) => {
  expect(rangeOf(text)).toBeNull();
});

// IANA's registries of special-purpose addresses, first and last of each block, and what stands beside them.
const registries: readonly (readonly [IpRange, ...string[]])[] = [
  ["private", "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255"],
  ["private", "127.0.0.0", "127.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255"],
  ["private", "192.0.2.0", "192.0.2.255", "198.18.0.0", "198.19.255.255", "198.51.100.0", "203.0.113.255"],
  ["never", "169.254.0.0", "169.254.169.254", "169.254.255.255", "192.0.0.0", "192.0.0.8", "192.0.0.9", "192.0.0.170"],
  ["never", "192.0.0.171", "192.0.0.255", "192.31.196.0", "192.31.196.255", "192.52.193.0", "192.52.193.255"],
  ["never", "192.88.99.0", "192.88.99.2", "192.88.99.255", "192.175.48.0", "192.175.48.255"],
  ["never", "224.0.0.0", "239.255.255.255", "240.0.0.0", "255.255.255.254", "255.255.255.255"],
  ["public", "1.0.0.0", "9.255.255.255", "11.0.0.0", "126.255.255.255", "128.0.0.0", "192.0.1.0", "192.31.195.255"],
  [
    "public",
    "192.88.98.255",
    "192.88.100.0",
    "198.17.255.255",
    "198.20.0.0",
    "203.0.112.255",
    "203.0.114.0",
    "223.255.255.255",
  ],
  [
    "private",
    "::",
    "::1",
    "fc00::",
    "fdff:ffff::",
    "fec0::1",
    "64:ff9b:1::",
    "64:ff9b:1:a01::",
    "2001:db8::",
    "2001:db8:ffff::1",
    "3fff::",
    "3fff:fff::1",
  ],
  ["never", "100::", "100::ffff:ffff:ffff:ffff", "100:0:0:1::", "100:0:0:1::1", "5f00::", "5f00:ffff::1"],
  [
    "never",
    "2001::",
    "2001::1",
    "2001:1::1",
    "2001:1::2",
    "2001:1::3",
    "2001:2::",
    "2001:3::",
    "2001:4:112::",
    "2001:10::1",
    "2001:20::1",
    "2001:30::1",
    "2001:1ff::",
  ],
  ["never", "2620:4f:8000::", "2620:4f:8000:ffff::1", "fe80::1", "febf::", "ff00::", "ff02::1", "ffff::"],
  // Given to nobody.
  [
    "never",
    "100:0:0:2::",
    "200::1",
    "400::1",
    "1000::",
    "1fff::1",
    "4000::",
    "6000::1",
    "8000::",
    "a000::1",
    "e000::",
    "fbff::1",
    "fe00::1",
    "64:ff9b:2::1",
  ],
  [
    "public",
    "2000::1",
    "2001:200::1",
    "2001:4860:4860::8888",
    "2001:db7:ffff::1",
    "2001:db9::",
    "2003::1",
    "2620:4f:7fff::1",
    "2620:4f:8001::",
    "3ffe::1",
    "3fff:1000::",
  ],
];

/** Every way IPv6 has to stand for the IPv4 address of these two groups. */
const embeddings: readonly ((high: string, low: string) => string)[] = [
  (high, low) => `::ffff:${high}:${low}`,
  (high, low) => `::ffff:0:${high}:${low}`,
  (high, low) => `::${high}:${low}`,
  (high, low) => `64:ff9b::${high}:${low}`,
  (high, low) => `2002:${high}:${low}::`,
  (high, low) => `2002:${high}:${low}:1:2:3:4:5`,
  (high, low) => `2606:4700::5efe:${high}:${low}`,
  (high, low) => `2606:4700::200:5efe:${high}:${low}`,
];

const groupsOf = (ipv4: string): [string, string] => {
  const [a, b, c, d] = ipv4.split(".").map(Number) as [number, number, number, number];
  return [(a * 256 + b).toString(16), (c * 256 + d).toString(16)];
};

test("every block of IANA's registries is what it is, in every spelling, to its edges", () => {
  for (const [range, ...addresses] of registries) {
    for (const address of addresses) {
      for (const spelling of spellingsOf(address)) expect([spelling, rangeOf(spelling)]).toEqual([spelling, range]);
    }
  }
});

test("an IPv4 address is judged as itself in whatever IPv6 address it stands, in every spelling", () => {
  const ipv4 = registries.flatMap(([range, ...all]) =>
    all.filter((each) => !each.includes(":")).map((each) => [range, each] as const),
  );
  for (const [range, address] of ipv4) {
    for (const embed of embeddings) {
      const carrier = embed(...groupsOf(address));
      for (const spelling of spellingsOf(carrier)) expect([spelling, rangeOf(spelling)]).toEqual([spelling, range]);
    }
  }
});

test("a NAT64 at home reaches this network, and a cloud's metadata never, wherever its prefix ends", () => {
  for (const address of [
    "64:ff9b:1::8.8.8.8",
    "64:ff9b:1::10.0.0.1",
    "64:ff9b:1:a00:0:100::",
    "64:ff9b:1:2:a:0:100::",
  ]) {
    expect([address, rangeOf(address)]).toEqual([address, "private"]);
  }
  for (const address of [
    "64:ff9b:1::169.254.169.254",
    "64:ff9b:1:abcd::169.254.169.254",
    "64:ff9b:1:a9fe:a9:fe00::",
    "64:ff9b:1:a9:fe:a9fe::",
    "64:ff9b:1:0:a9:fea9:fe00::",
  ]) {
    for (const spelling of spellingsOf(address)) expect([spelling, rangeOf(spelling)]).toEqual([spelling, "never"]);
  }
});
