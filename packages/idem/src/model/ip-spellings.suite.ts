// Every way an IP address is written: with and without zeros in front, with each run of zeros left out, in both cases, the last half of IPv6 as IPv4, with a zone.

/** Of IPv4 there is one. */
export function spellingsOf(address: string): readonly string[] {
  if (!address.includes(":")) return [address];
  const groups = groupsOf(address);
  const heads = [...compressed(groups), groups.map((group) => group.padStart(4, "0")).join(":")];
  const [high, low] = groups.slice(6).map((group) => Number.parseInt(group, 16)) as [number, number];
  const dotted = [high >> 8, high & 0xff, low >> 8, low & 0xff].join(".");
  // Only where nothing of the last two groups was left out.
  const withIpv4 = [...compressed(groups.slice(0, 6)), groups.slice(0, 6).join(":")].map((head) =>
    head.endsWith(":") ? head + dotted : `${head}:${dotted}`,
  );
  const all = [...heads, ...withIpv4];
  return [...new Set([...all, ...all.map((text) => text.toUpperCase()), ...all.map((text) => `${text}%eth0`)])];
}

/** Eight groups without zeros in front. */
function groupsOf(address: string): string[] {
  const [, head, ...ipv4] = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(address) ?? [];
  const [a, b, c, d] = ipv4.map(Number) as [number, number, number, number];
  const plain = head === undefined ? address : `${head}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
  const [before = "", after] = plain.split("::");
  const left = before === "" ? [] : before.split(":");
  const right = after === undefined || after === "" ? [] : after.split(":");
  return [...left, ...Array<string>(8 - left.length - right.length).fill("0"), ...right].map((group) =>
    Number.parseInt(group, 16).toString(16),
  );
}

/** Plain, and with every run of zeros, whole or in part, as `::`. */
function compressed(groups: readonly string[]): string[] {
  const found = [groups.join(":")];
  for (let from = 0; from < groups.length; from++) {
    for (let to = from + 1; to <= groups.length && groups[to - 1] === "0"; to++) {
      const [left, right] = [groups.slice(0, from).join(":"), groups.slice(to).join(":")];
      found.push(`${left}::${right}`);
    }
  }
  return found;
}
