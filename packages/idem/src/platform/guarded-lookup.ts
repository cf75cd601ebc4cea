// Names become addresses at the moment of connecting, and only those that may be connected to are handed on. Asking earlier
// would judge one answer and connect to the next: a name's owner may change its address in between.
import { type LookupAddress, lookup } from "node:dns";
import type { LookupFunction } from "node:net";

type Resolve = (hostname: string, take: (error: Error | null, addresses: LookupAddress[]) => void) => void;

const resolveAll: Resolve = (hostname, take) => lookup(hostname, { all: true }, take);

/** For `lookup` of node:http; `isAllowed` is asked about every address of a name. */
export function guardedLookup(
  isAllowed: (hostname: string, address: string) => boolean,
  resolve: Resolve = resolveAll,
): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, (error, addresses) => {
      if (error !== null) {
        callback(error, "", 0);
        return;
      }
      const family = options.family === 4 || options.family === 6 ? options.family : null;
      const asked = family === null ? addresses : addresses.filter((each) => each.family === family);
      const allowed = asked.filter(({ address }) => isAllowed(hostname, address));
      const first = allowed[0];
      if (first === undefined) {
        const at = asked.map(({ address }) => address).join(", ") || "no address";
        callback(
          new Error(`"${hostname}" is at ${at}, where no app may be; --allow-host ${hostname} allows it`),
          "",
          0,
        );
      } else if (options.all === true) {
        callback(null, allowed);
      } else {
        callback(null, first.address, first.family);
      }
    });
  };
}
