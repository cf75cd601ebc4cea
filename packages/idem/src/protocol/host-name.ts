// Whose a name or an address is that a request was sent to.

/** `127.0.0.1` of `127.0.0.1:8288`, `::1` of `[::1]:8288`; lower case. */
export function hostNameOf(host: string): string {
  if (host.startsWith("[")) return host.slice(1, Math.max(1, host.indexOf("]"))).toLowerCase();
  const colon = host.indexOf(":");
  return (colon === -1 ? host : host.slice(0, colon)).toLowerCase();
}

const byte = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";
const ipv4 = new RegExp(`^${byte}(?:\\.${byte}){3}$`);

/** An address as browsers write it, and no name. */
export const isAddress = (name: string): boolean =>
  ipv4.test(name) || (name.includes(":") && URL.canParse(`http://[${name}]`));

/** Exactly these: any other name, `x.localhost` among them, is answered by a resolver, which may be hostile. */
export const isLoopback = (name: string): boolean =>
  name === "localhost" || name === "::1" || (ipv4.test(name) && name.startsWith("127."));

/** Of the other end of a line; also as IPv6 writes IPv4. */
export const isOwnAddress = (address: string): boolean => isLoopback(address.replace(/^::ffff:/i, ""));
