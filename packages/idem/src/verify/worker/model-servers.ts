// Servers of the user's: they listen, and nobody comes. No port of the machine is taken, and two processes of a world do not find it taken by the other.
import net from "node:net";
import type { Outside } from "./watcher.ts";

type Listen = (this: net.Server & { _handle?: object | null }, ...args: unknown[]) => net.Server;

/** The handle of a server that listens nowhere (`net.js` of Node asks it these). */
class Listening {
  constructor(
    private readonly host: string,
    private readonly port: number,
  ) {}

  getsockname(out: object): number {
    Object.assign(out, { address: this.host, family: this.host.includes(":") ? "IPv6" : "IPv4", port: this.port });
    return 0;
  }
  close(done?: () => void): void {
    if (done !== undefined) process.nextTick(done);
  }
  ref(): void {}
  unref(): void {}
  hasRef(): boolean {
    return true;
  }
}

let lastPort = 49_151;

function placeOf(args: readonly unknown[]): { readonly host: string; readonly port: number } {
  const [first, second] = args;
  const given = typeof first === "object" && first !== null ? (first as { host?: unknown; port?: unknown }) : null;
  const port = Number(given === null ? first : given.port);
  const host = given === null ? second : given.host;
  return { host: typeof host === "string" ? host : "::", port: port > 0 ? port : ++lastPort };
}

export function modelServers(outside: Outside): void {
  const prototype = net.Server.prototype as unknown as { listen: Listen };
  const before = prototype.listen;
  prototype.listen = function (...args) {
    // One that listens already is refused by Node itself.
    if (!outside.isWatched() || (this._handle ?? null) !== null) return before.apply(this, args);
    const { host, port } = placeOf(args);
    const done = args.find((each) => typeof each === "function") as (() => void) | undefined;
    if (done !== undefined) this.once("listening", done);
    this._handle = new Listening(host, port);
    process.nextTick(() => {
      if ((this._handle ?? null) !== null) this.emit("listening");
    });
    return this;
  };
}
