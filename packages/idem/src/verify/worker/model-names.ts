// Names of hosts, answered here: asking for one leaves nothing behind, and what is connected to afterwards is watched or shut by itself. Records of other
// kinds nobody can make up; they stay shut (deny-ways-out.ts).
import dns from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import { isIP } from "node:net";
import type { Anything } from "./file-effects.ts";
import type { Outside } from "./watcher.ts";

// TEST-NET-1, for documentation: no route leads there (RFC 5737).
const addresses = new Map<string, string>();

function addressOf(name: string): string {
  if (isIP(name) !== 0) return name;
  if (name === "localhost") return "127.0.0.1";
  const known = addresses.get(name);
  if (known !== undefined) return known;
  const made = `192.0.2.${(addresses.size % 254) + 1}`;
  addresses.set(name, made);
  return made;
}

/** The name an address was made up for. */
export const nameAt = (address: string): string => [...addresses].find(([, made]) => made === address)?.[0] ?? address;

const noData = (name: string): Error =>
  Object.assign(new Error(`queryAaaa ENODATA ${name}`), { code: "ENODATA", errno: undefined, hostname: name });

export function answerNames(outside: Outside): void {
  const looked = (name: string, options: unknown): unknown[] => {
    const address = addressOf(name);
    const family = isIP(address);
    const isAll = typeof options === "object" && options !== null && (options as { all?: unknown }).all === true;
    return isAll ? [[{ address, family }]] : [address, family];
  };
  const set = (module: object, name: string, make: (before: Anything) => Anything): void => {
    const before = Reflect.get(module, name) as Anything | undefined;
    if (typeof before !== "function") return;
    Object.defineProperty(module, name, { configurable: true, writable: true, value: make(before) });
  };
  const back =
    (answer: (name: string, options: unknown) => unknown[] | Error) =>
    (before: Anything): Anything =>
      function (this: unknown, name: string, ...rest: unknown[]) {
        if (!outside.isWatched()) return before.call(this, name, ...rest);
        const done = rest.at(-1) as Anything;
        const found = answer(name, rest[0]);
        process.nextTick(() => (found instanceof Error ? done(found) : done(null, ...found)));
        return {};
      };
  const soon =
    (answer: (name: string, options: unknown) => unknown) =>
    (before: Anything): Anything =>
      async function (this: unknown, name: string, options: unknown) {
        if (!outside.isWatched()) return before.call(this, name, options);
        const found = answer(name, options);
        if (found instanceof Error) throw found;
        return found;
      };
  set(dns, "lookup", back(looked));
  set(
    dns.promises,
    "lookup",
    soon((name, options) => {
      const [first, family] = looked(name, options);
      return Array.isArray(first) ? first : { address: first, family };
    }),
  );
  for (const module of [dns, dns.Resolver.prototype]) {
    set(
      module,
      "resolve4",
      back((name) => [[addressOf(name)]]),
    );
    set(module, "resolve6", back(noData));
  }
  for (const module of [dns.promises, dns.promises.Resolver.prototype]) {
    set(
      module,
      "resolve4",
      soon((name) => [addressOf(name)]),
    );
    set(module, "resolve6", soon(noData));
  }
  syncBuiltinESMExports();
}
