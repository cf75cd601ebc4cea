// Ranges of IP addresses, whatever their spelling: an IPv4 address inside an IPv6 one is judged as itself.

/** `never`: no app can be there, and what can be (a cloud's metadata, everybody at once) must not be asked. */
export type IpRange = "public" | "private" | "never";

// IANA's special-purpose registries (RFC 6890 and its updates), and where clouds keep the credentials of their machines. What is in a registry and
// is no network of somebody's own is `never`, also where it could be reached: no app is at a sink for reverse lookups.
const ranges: readonly (readonly [IpRange, ...string[]])[] = [
  [
    "never",
    "169.254.0.0/16", // link-local; metadata of AWS, Google, Azure and most others
    "100.100.100.200/32", // metadata of Alibaba
    "168.63.129.16/32", // Azure's host
    "192.0.0.0/24", // protocol assignments; metadata of Oracle's older cloud
    "192.31.196.0/24", // AS112
    "192.52.193.0/24", // AMT
    "192.88.99.0/24", // relays of 6to4, given up
    "192.175.48.0/24", // AS112
    "224.0.0.0/4", // multicast
    "240.0.0.0/4", // reserved, broadcast
    "fe80::/10",
    "ff00::/8",
    "fd00:ec2::/32", // metadata, time and names of AWS
    "fd20:ce::254/128", // metadata of Google
    "fd00:42::42/128", // metadata of Scaleway
    "2001::/23", // protocol assignments; Teredo, whose address behind it is not in sight, benchmarking, ORCHID, DRIP
    "2620:4f:8000::/48", // AS112
    "5f00::/16", // segments of routing
    "100::/64", // discarded
    "100:0:0:1::/64", // dummies
  ],
  [
    "private",
    "0.0.0.0/8",
    "10.0.0.0/8",
    "100.64.0.0/10",
    "127.0.0.0/8",
    "172.16.0.0/12",
    "192.168.0.0/16",
    "198.18.0.0/15",
    "192.0.2.0/24",
    "198.51.100.0/24",
    "203.0.113.0/24",
    "::/127",
    "fc00::/7",
    "fec0::/10",
    "64:ff9b:1::/48",
    "2001:db8::/32",
    "3fff::/20",
  ],
];

// The rest of IPv6 that has been given out; what is neither here nor above is nobody's.
const givenOut = "2000::/3";

// IPv6 addresses that stand for an IPv4 one, and its bytes: mapped, translated (RFC 2765), NAT64, 6to4, compatible.
const carriers: readonly (readonly [string, readonly number[]])[] = [
  ["::ffff:0:0/96", [12, 13, 14, 15]],
  ["::ffff:0:0:0/96", [12, 13, 14, 15]],
  ["64:ff9b::/96", [12, 13, 14, 15]],
  ["2002::/16", [2, 3, 4, 5]],
  ["::/96", [12, 13, 14, 15]],
];

// Where an IPv4 address may stand as well, in networks of somebody's own: NAT64 at home, by the length of its prefix (RFC 6052), and ISATAP.
const localNat64 = "64:ff9b:1::/48";
const localNat64Places = [
  [6, 7, 9, 10],
  [7, 9, 10, 11],
  [9, 10, 11, 12],
  [12, 13, 14, 15],
];

interface Block {
  readonly bytes: Uint8Array;
  readonly bits: number;
}

const readBlock = (text: string): Block => {
  const [address, bits] = text.split("/") as [string, string];
  return { bytes: bytesOf(address)!, bits: Number(bits) };
};

const blocks = ranges.flatMap(([range, ...texts]) => texts.map((text) => ({ range, block: readBlock(text) })));
const carrierBlocks = carriers.map(([text, places]) => ({ block: readBlock(text), places }));
const givenOutBlock = readBlock(givenOut);
const localNat64Block = readBlock(localNat64);

/** Null for text that is no IP address. */
export function rangeOf(address: string): IpRange | null {
  const bytes = bytesOf(address);
  return bytes === null ? null : rangeOfBytes(bytes);
}

function rangeOfBytes(bytes: Uint8Array): IpRange {
  const found = blocks.find(({ block }) => isIn(bytes, block))?.range;
  if (bytes.length === 4) return found ?? "public";
  const carried = (places: readonly number[]) => rangeOfBytes(Uint8Array.from(places, (at) => bytes[at]!));
  const carrier = carrierBlocks.find(({ block }) => isIn(bytes, block));
  const own = found ?? (carrier !== undefined ? carried(carrier.places) : null);
  const also = isIn(bytes, localNat64Block)
    ? localNat64Places.map(carried)
    : isIsatap(bytes)
      ? [carried([12, 13, 14, 15])]
      : [];
  return worst([own ?? (isIn(bytes, givenOutBlock) ? "public" : "never"), ...also]);
}

const worst = (all: readonly IpRange[]): IpRange =>
  all.includes("never") ? "never" : all.includes("private") ? "private" : "public";

/** `…:0:5efe:a.b.c.d` and `…:200:5efe:a.b.c.d`, under any prefix (RFC 5214). */
const isIsatap = (bytes: Uint8Array): boolean =>
  (bytes[8] === 0 || bytes[8] === 2) && bytes[9] === 0 && bytes[10] === 0x5e && bytes[11] === 0xfe;

function isIn(bytes: Uint8Array, block: Block): boolean {
  if (bytes.length !== block.bytes.length) return false;
  for (let i = 0; i * 8 < block.bits; i++) {
    const mask = (0xff00 >> Math.min(8, block.bits - i * 8)) & 0xff;
    if ((bytes[i]! & mask) !== (block.bytes[i]! & mask)) return false;
  }
  return true;
}

/** 4 or 16 bytes. */
function bytesOf(address: string): Uint8Array | null {
  const text = address.replace(/%.*$/s, "");
  if (!text.includes(":")) return ipv4Of(text);
  // The last 32 bits may be written as an IPv4 address.
  const [, head, tail] = /^(.*:)(\d+\.\d+\.\d+\.\d+)$/.exec(text) ?? [];
  const ipv4 = tail === undefined ? null : ipv4Of(tail);
  if (tail !== undefined && ipv4 === null) return null;
  const groupsText = ipv4 === null ? text : `${head}${hex(ipv4, 0)}:${hex(ipv4, 2)}`;
  const halves = groupsText.split("::");
  if (halves.length > 2) return null;
  const [before, after] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - before!.length - (after?.length ?? 0);
  if (after === undefined ? missing !== 0 : missing < 1) return null;
  const groups = [...before!, ...Array<string>(Math.max(0, missing)).fill("0"), ...(after ?? [])];
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return null;
  return Uint8Array.from(
    groups.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]),
  );
}

const hex = (bytes: Uint8Array, at: number): string => (bytes[at]! * 256 + bytes[at + 1]!).toString(16);

function ipv4Of(text: string): Uint8Array | null {
  // Without zeros in front: some read what follows them as octal, and would connect elsewhere.
  if (!/^(0|[1-9]\d{0,2})(\.(0|[1-9]\d{0,2})){3}$/.test(text)) return null;
  const parts = text.split(".").map(Number);
  return parts.every((part) => part <= 255) ? Uint8Array.from(parts) : null;
}
