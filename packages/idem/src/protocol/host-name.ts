// Whose a name or an address is that a request was sent to.

/** `127.0.0.1` of `127.0.0.1:8288`, `::1` of `[::1]:8288`; lower case. */
export function hostNameOf(host: string): string {
  if (host.startsWith("[")) return host.slice(1, Math.max(1, host.indexOf("]"))).toLowerCase();
  const colon = host.indexOf(":");
  return (colon === -1 ? host : host.slice(0, colon)).toLowerCase();
}

export const isLoopback = (name: string): boolean =>
  name === "localhost" || name.endsWith(".localhost") || name === "::1" || /^127\.\d+\.\d+\.\d+$/.test(name);

/** Of the other end of a line; also as IPv6 writes IPv4. */
export const isOwnAddress = (address: string): boolean => isLoopback(address.replace(/^::ffff:/i, ""));
