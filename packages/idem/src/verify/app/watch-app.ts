// An app's process as the verifier watches it. Inside a call of the server's everything that leads outside is met as in a world's thread: requests are
// answered by the model, which lives in the command, other ways out are refused and told. Outside of any call a process starts as it always does, but for
// the network: nothing leaves.
import { syncBuiltinESMExports } from "node:module";
import { isRead, type ModelAnswer, type ModelRequest } from "../destination-model.ts";
import type { Place } from "../thing.ts";
import { AbsentFields, watchAbsent } from "../worker/absent-fields.ts";
import { asMachine, currentCaller, isUnwatched, placeHere } from "../worker/caller.ts";
import { titleOf } from "../worker/carry-on-model.ts";
import { denyWaysOut } from "../worker/deny-ways-out.ts";
import { doorOf, interceptHttp, lostConnection, refuse } from "../worker/intercept-http.ts";
import { dateBy, RealDate, realFetch } from "../worker/real.ts";
import type { Outside } from "../worker/watcher.ts";
import { ControlLink } from "./control-link.ts";
import { type AppSettings, byHeader, type FromApp, type ToApp, tokenHeader } from "./control-messages.ts";
import { denyFileChanges } from "./deny-file-changes.ts";
import { askedBy, giveOtherPort, isInCall, watchCalls } from "./served-calls.ts";
import { shutNetwork } from "./shut-network.ts";
import { watchTimers } from "./watch-timers.ts";

export async function watchApp(settings: AppSettings): Promise<void> {
  const app = new WatchedApp(settings);
  const link = await asMachine(() => ControlLink.open(settings.controlPort, (message) => app.take(message)));
  await app.open(link);
}

class WatchedApp {
  private link: ControlLink | null = null;
  /** How far the world's clock is ahead of the machine's. */
  private aheadMs = 0;
  private fields = new AbsentFields([]);
  private readonly asked = new Map<number, (answer: ModelAnswer | null) => void>();
  private count = 0;
  /** What was reached for before the first call: told when this turns out to be the process that serves. */
  private readonly early = new Set<string>();
  private hasServed = false;

  constructor(private readonly settings: AppSettings) {}

  async open(link: ControlLink): Promise<void> {
    this.link = link;
    const { token, appPort } = this.settings;
    this.post({ kind: "hello", token, pid: process.pid });
    const unproven = (what: string) => this.unproven(what);
    const outside: Outside = {
      effect: async () => ({ kind: "lost" }),
      effectLater: async () => ({ kind: "lost" }),
      effectNow: () => ({ kind: "lost" }),
      read: async (body) => body(),
      readNow: (body) => body(),
      unproven,
      isWatched: () => isInCall() && !isUnwatched(),
      begin: () => () => {},
    };
    giveOtherPort(appPort, (asked, port) => this.post({ kind: "listening", asked, port }));
    watchCalls(() => this.firstCall());
    denyWaysOut(outside);
    shutNetwork(
      (what) => this.early.add(what),
      () => isInCall() || isUnwatched(),
    );
    denyFileChanges(outside);
    // No request leaves, whoever makes it.
    const everywhere: Outside = { ...outside, isWatched: () => !isUnwatched() };
    await interceptHttp(everywhere, (request) => this.ask(everywhere, request));
    watchAbsent(this.fields);
    this.passToServer();
    watchTimers((count) => this.post({ kind: "timers", count }), isInCall);
    globalThis.Date = dateBy(() => RealDate.now() + this.aheadMs);
    syncBuiltinESMExports();
  }

  private post(message: FromApp): void {
    asMachine(() => this.link!.post(message));
  }

  take(message: ToApp): void {
    switch (message.kind) {
      case "answer":
        this.asked.get(message.id)?.(message.answer);
        this.asked.delete(message.id);
        return;
      case "begin":
        this.fields = new AbsentFields(message.events);
        watchAbsent(this.fields);
        break;
      case "now":
      case "report":
        break;
    }
    if (message.kind !== "report") this.aheadMs = message.nowMs - RealDate.now();
    const absent = message.kind === "report" ? this.fields.found() : [];
    this.post({ kind: "done", id: message.id, absent });
  }

  private unproven(what: string): void {
    if (this.hasServed) this.post({ kind: "unproven", what });
    else this.early.add(what);
  }

  private firstCall(): void {
    this.hasServed = true;
    for (const what of this.early) this.post({ kind: "unproven", what });
  }

  private async ask(outside: Outside, request: ModelRequest): Promise<ModelAnswer> {
    if (!this.hasServed && !isInCall()) throw this.refusedAtStart(request);
    refuse(outside, doorOf(request));
    const by = askedBy();
    const { method, url, headers, body } = request;
    const id = ++this.count;
    const answer = await new Promise<ModelAnswer | null>((resolve) => {
      this.asked.set(id, resolve);
      this.post({ kind: "ask", id, request: { method, url: url.href, headers, body }, by });
    });
    if (answer === null) throw lostConnection();
    if (answer.isMadeUp) this.fields.watch(answer.body, request);
    else this.fields.trust(answer.body);
    return answer;
  }

  /** Tools look for newer versions of themselves, telemetry says hello; what the user's own code asks for then is told. */
  private refusedAtStart(request: ModelRequest): Error {
    const isOwn = placeHere(this.refusedAtStart) !== null;
    if (isOwn && !isRead(request)) this.early.add(`${titleOf(request)} was asked for while the app was starting`);
    return Object.assign(new TypeError("fetch failed"), { code: "ECONNREFUSED" });
  }

  /** What the app says to its server really leaves: to the command, wherever the app believes its server to be. */
  private passToServer(): void {
    const { serverOrigin, token } = this.settings;
    const watched = globalThis.fetch;
    globalThis.fetch = (input, init) => {
      const url = addressOf(input);
      if (url === null || !isServer(url, serverOrigin)) return watched(input, init);
      const by = { ...askedBy(), place: placeAbove(globalThis.fetch) };
      return asMachine(() => {
        const request = new Request(new URL(url.pathname + url.search, serverOrigin), requestOf(input, init));
        request.headers.set(tokenHeader, token);
        request.headers.set(byHeader, encodeURIComponent(JSON.stringify(by)));
        return realFetch(request);
      });
    };
  }
}

const placeAbove = (below: (...args: never[]) => unknown): Place | null =>
  currentCaller<null>()?.place ?? placeHere(below);

function addressOf(input: Parameters<typeof fetch>[0]): URL | null {
  const text = input instanceof Request ? input.url : String(input);
  return URL.canParse(text) ? new URL(text) : null;
}

const requestOf = (input: Parameters<typeof fetch>[0], init: RequestInit | undefined): RequestInit =>
  input instanceof Request
    ? ({ method: input.method, headers: input.headers, body: input.body, duplex: "half", ...init } as RequestInit)
    : ({ ...init, ...(init?.body instanceof ReadableStream ? { duplex: "half" } : {}) } as RequestInit);

const serverHosts = new Set(["localhost:8288", "127.0.0.1:8288", "inn.gs", "api.inngest.com"]);

const isServer = (url: URL, serverOrigin: string): boolean => url.origin === serverOrigin || serverHosts.has(url.host);
