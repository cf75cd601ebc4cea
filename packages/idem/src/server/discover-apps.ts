// Finds apps on this machine by itself: the usual ports and paths are asked, and whatever answers as an SDK is an
// app. Cheap for the machine and quiet for others: a port nobody listens on costs one refused
// connection, and one that answers as something else is asked ever more rarely.
import type { HttpCalls } from "../platform/node-http.ts";
import type { Platform } from "../platform/platform.ts";
import { withinTime } from "../platform/wait-at-most.ts";
import { isFromSdk } from "../protocol/sync.ts";

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, i) => from + i);

export const usualPorts: readonly number[] = [
  ...[80, 443],
  ...range(3000, 3010),
  ...[4321, 5000, 5173, 8000, 8080, 8081, 8787, 8888],
  ...range(8910, 8915),
];

export const usualPaths = [
  "/api/inngest",
  "/api/idem",
  "/x/inngest",
  "/.netlify/functions/inngest",
  "/.redwood/functions/inngest",
] as const;

// All at once would be a burst of connections every few seconds.
const portsAtOnce = 8;
const probeMsMax = 2_000;
const probeBytesMax = 64 * 1024;
// An app that starts beside something else on a shared port is found within a minute.
const quietMsMax = 60_000;

type Found = "sdk" | "other" | "nobody";

/** A port that was tried, and what was there. */
export interface TriedPort {
  readonly port: number;
  readonly answered: Found;
}

export class Discovery {
  /** Ports that answered as something else: when to ask again. */
  private readonly quiet = new Map<number, { readonly until: number; readonly ms: number }>();

  private readonly found = new Map<number, Found>();

  constructor(
    private readonly http: HttpCalls,
    private readonly platform: Pick<Platform, "monoMs" | "timer">,
    private readonly everyMs: number,
  ) {}

  /** The URLs of apps found; ports in `known` are left alone. */
  async look(known: ReadonlySet<number>, signal: AbortSignal): Promise<string[]> {
    const now = this.platform.monoMs();
    const ports = usualPorts.filter((port) => !known.has(port) && (this.quiet.get(port)?.until ?? 0) <= now);
    const found: string[] = [];
    const lookOn = async (): Promise<void> => {
      for (let port = ports.shift(); port !== undefined && !signal.aborted; port = ports.shift()) {
        const url = await this.lookAt(port, signal);
        if (url !== null) found.push(url);
      }
    };
    await Promise.all(Array.from({ length: portsAtOnce }, lookOn));
    return found;
  }

  /** The last answers of every port, in order: for people who wonder why their app is not found. */
  get tried(): readonly TriedPort[] {
    return usualPorts.flatMap((port) => {
      const answered = this.found.get(port);
      return answered === undefined ? [] : [{ port, answered }];
    });
  }

  private async lookAt(port: number, signal: AbortSignal): Promise<string | null> {
    for (const path of usualPaths) {
      const url = `${port === 443 ? "https" : "http"}://localhost:${port}${path}`;
      const answer = await this.probe(url, signal);
      this.found.set(port, answer);
      if (answer === "nobody") {
        this.quiet.delete(port);
        return null;
      }
      if (answer === "sdk") return url;
    }
    const ms = Math.min(quietMsMax, (this.quiet.get(port)?.ms ?? this.everyMs) * 2);
    this.quiet.set(port, { until: this.platform.monoMs() + ms, ms });
    return null;
  }

  private async probe(url: string, outer: AbortSignal): Promise<Found> {
    const asked = { url, method: "GET", headers: { accept: "application/json" }, body: null };
    try {
      const answer = await withinTime(this.platform, probeMsMax, outer, (signal) =>
        this.http.call({ ...asked, bodyBytesMax: probeBytesMax, signal }),
      );
      return isFromSdk(answer.headers) ? "sdk" : "other";
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "ECONNREFUSED" ? "nobody" : "other";
    }
  }
}
