// An app's process as the verifier watches it. Inside a call of the server's everything that leads outside is met as in a world's thread: requests are
// answered by the model, which lives in the command; mail, files and databases by the thread's own watchers, which ask the command whether an effect happens
// and note what it did where it outlives the process; other ways out are refused and reported. Outside of any call a process starts as it always does, but for
// the network, from which nothing leaves, and databases, which are the world's.
import { syncBuiltinESMExports } from "node:module";
import { setEnvironment } from "../../platform/node-thread.ts";
import { isRead, type ModelAnswer, type ModelRequest } from "../destination-model.ts";
import type { Place } from "../thing.ts";
import { AbsentFields, watchAbsent } from "../worker/absent-fields.ts";
import { asMachine, currentCaller, isUnwatched, placeHere, readSourcesBy, standFor } from "../worker/caller.ts";
import { titleOf } from "../worker/carry-on-model.ts";
import { denyWaysOut } from "../worker/deny-ways-out.ts";
import { carryOut } from "../worker/file-effects.ts";
import { doorOf, interceptHttp, lostConnection, refuse } from "../worker/intercept-http.ts";
import type { WatchedProcess } from "../worker/life.ts";
import { notesIn, notesInMemory } from "../worker/notes.ts";
import { dateBy, RealDate, realFetch } from "../worker/real.ts";
import { watchPostgres } from "../worker/sql/watch-postgres.ts";
import { watchSqlite } from "../worker/sql/watch-sqlite.ts";
import { replaceFiles, watchFiles } from "../worker/watch-files.ts";
import { watchMail } from "../worker/watch-mail.ts";
import type { Outside } from "../worker/watcher.ts";
import { builtSource } from "./built-sources.ts";
import { ControlLink } from "./control-link.ts";
import {
  type AppSettings,
  byHeader,
  type EffectReply,
  type FromApp,
  filesOf,
  type ToApp,
  tokenHeader,
  type WorldOfProcess,
} from "./control-messages.ts";
import { loadEsPackages } from "./load-es-packages.ts";
import { ProcessEffects } from "./process-effects.ts";
import { askedBy, giveOtherPort, isInCall, watchCalls } from "./served-calls.ts";
import { shutNetwork } from "./shut-network.ts";
import { StillLink } from "./still-link.ts";
import { watchTimers } from "./watch-timers.ts";

/** Frameworks keep what they built in there. */
const caches =
  /[\\/](node_modules|\.next|\.nuxt|\.output|\.svelte-kit|\.vite|\.cache|\.turbo|\.parcel-cache|\.angular)([\\/]|$)/;

export async function watchApp(settings: AppSettings): Promise<void> {
  const app = new WatchedApp(settings);
  const link = await asMachine(() => ControlLink.open(settings.controlPort, (message) => app.take(message)));
  await app.open(link);
}

class WatchedApp {
  private link: ControlLink | null = null;
  private still: StillLink | null = null;
  /** The world's clock minus the machine's. */
  private aheadMs = 0;
  private fields = new AbsentFields([]);
  private readonly asked = new Map<number, (answer: ModelAnswer | null) => void>();
  private count = 0;
  /** Reached for before the first call: reported when this turns out to be the process that serves. */
  private readonly early = new Set<string>();
  private hasServed = false;
  private world: WorldOfProcess | null = null;
  private readonly effects = new ProcessEffects({
    post: (message) => this.post(message),
    ask: (message) => {
      this.still ??= new StillLink(this.settings);
      return this.still.ask(message) as EffectReply;
    },
    isTooEarly: ({ title }) => {
      const isEarly = !this.hasServed && !isInCall();
      if (isEarly) this.early.add(`${title} was asked for while the app was starting`);
      return isEarly;
    },
  });

  constructor(private readonly settings: AppSettings) {}

  async open(link: ControlLink): Promise<void> {
    this.link = link;
    const { token, appPort, world } = this.settings;
    this.post({ kind: "hello", token, pid: process.pid });
    const life = this.asProcess();
    standFor({ life, run: null });
    readSourcesBy(builtSource);
    const { effect, effectLater, effectNow } = this.effects;
    const outside: Outside = {
      effect,
      effectLater,
      effectNow,
      read: async (body) => body(),
      readNow: (body) => body(),
      unproven: (what) => this.unproven(what),
      assume: (what) => this.post({ kind: "assume", what }),
      isWatched: () => isInCall() && !isUnwatched(),
      begin: () => () => {},
    };
    // No request, mail or statement is let out, no matter whose code it is.
    const everywhere: Outside = { ...outside, isWatched: () => !isUnwatched() };
    giveOtherPort(appPort, (asked, port) => this.post({ kind: "listening", asked, port }));
    watchCalls(life, () => this.firstCall());
    denyWaysOut(outside);
    shutNetwork(
      (what) => this.early.add(what),
      () => isInCall() || isUnwatched(),
    );
    await interceptHttp(everywhere, (request) => this.ask(everywhere, request));
    void watchMail.open(everywhere);
    replaceFiles(outside, (path) => caches.test(path));
    void watchSqlite.open(everywhere);
    void watchPostgres.open(everywhere);
    this.openWorld(world);
    await loadEsPackages();
    watchAbsent(this.fields);
    this.passToServer();
    watchTimers((count) => this.post({ kind: "timers", count }), isInCall);
    globalThis.Date = dateBy(() => this.now());
    syncBuiltinESMExports();
  }

  private now(): number {
    return RealDate.now() + this.aheadMs;
  }

  /** All code here is of this process, and what it does before its first call is no part of the world. */
  private asProcess(): WatchedProcess {
    const hasServed = (): boolean => this.hasServed;
    return {
      isDead: false,
      get isLoading() {
        return !hasServed();
      },
      now: () => this.now(),
      pass: () => {},
      waitsForLock: () => {},
    };
  }

  private openWorld(world: WorldOfProcess | null): void {
    this.world = world;
    const of = {
      now: () => this.now(),
      stir: () => {},
      assume: () => {},
      given: () => null,
      recordFrom: [],
      // Copies, made for this world: whatever is done there stays.
      databases: { databases: world?.databases ?? [], isSetUp: true },
      setEnvironment,
      notes: world === null ? notesInMemory : notesIn(world.folder, carryOut),
      filesIn: world === null ? null : filesOf(world),
      isApart: false,
      events: [],
    };
    for (const watcher of [watchMail, watchFiles, watchSqlite, watchPostgres]) watcher.begin(of);
  }

  private post(message: FromApp): void {
    asMachine(() => this.link!.post(message));
  }

  take(message: ToApp): void {
    switch (message.kind) {
      case "go":
      case "became":
        this.effects.take(message);
        return;
      case "answer":
        this.asked.get(message.id)?.(message.answer);
        this.asked.delete(message.id);
        return;
      case "begin":
        this.fields = new AbsentFields(message.events);
        watchAbsent(this.fields);
        if (this.world?.folder !== message.world.folder) this.openWorld(message.world);
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
    if (!this.hasServed) this.early.add(what);
    this.post({ kind: this.hasServed ? "unproven" : "refused", what });
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

  /** Tools look for newer versions of themselves, telemetry says hello; what the user's own code asks for then is reported. */
  private refusedAtStart(request: ModelRequest): Error {
    const isOwn = placeHere(this.refusedAtStart) !== null;
    if (isOwn && !isRead(request)) this.early.add(`${titleOf(request)} was asked for while the app was starting`);
    return Object.assign(new TypeError("fetch failed"), { code: "ECONNREFUSED" });
  }

  /** Messages of the app to its server really leave: to the command, wherever the app believes its server to be. */
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
  currentCaller<WatchedProcess>()?.place ?? placeHere(below);

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
