// A claim's place in an address: its scope and its key in one segment. A slash would end the segment, and some proxies undo %2F, so
// both are written with tildes, as JSON pointers do it.

const escape = (text: string): string => text.replaceAll("~", "~0").replaceAll("/", "~1");
const unescape = (text: string): string => text.replaceAll("~1", "/").replaceAll("~0", "~");

export interface ClaimPlace {
  readonly scope: string;
  readonly key: string;
}

export const claimName = ({ scope, key }: ClaimPlace): string => `${escape(scope)}~-${escape(key)}`;

export function readClaimName(name: string): ClaimPlace {
  const at = name.indexOf("~-");
  if (at === -1) return { scope: unescape(name), key: "" };
  return { scope: unescape(name.slice(0, at)), key: unescape(name.slice(at + 2)) };
}
