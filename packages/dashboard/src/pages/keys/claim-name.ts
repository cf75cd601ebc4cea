// A claim's place in an address: its scope and its key in one segment. A slash would end the segment, and some proxies undo %2F, so
// both are written with tildes, as JSON pointers do it.

const written = (text: string): string => text.replaceAll("~", "~0").replaceAll("/", "~1");
const read = (text: string): string => text.replaceAll("~1", "/").replaceAll("~0", "~");

export interface ClaimPlace {
  readonly scope: string;
  readonly key: string;
}

export const claimName = ({ scope, key }: ClaimPlace): string => `${written(scope)}~-${written(key)}`;

export function readClaimName(name: string): ClaimPlace {
  const at = name.indexOf("~-");
  if (at === -1) return { scope: read(name), key: "" };
  return { scope: read(name.slice(0, at)), key: read(name.slice(at + 2)) };
}
