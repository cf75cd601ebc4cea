// Registers apps with the engine of their environment and makes their functions reachable, now and after a restart: where a
// function lives stands in its stored configuration.
import type { Engine } from "../engine/engine.ts";
import type { RemoteCode } from "../execute/function-code.ts";
import type { Remote } from "../execute/remote.ts";
import type { FunctionConfig, Runtime } from "../model/function-config.ts";
import type { Platform } from "../platform/platform.ts";
import type { AppRegistration, Apps, ServedApp } from "./apps.ts";

export interface ServedAppsOptions {
  readonly engine: (env: string) => Promise<Engine>;
  readonly platform: Pick<Platform, "wallMs">;
  /** Fixed milliseconds between attempts; null for the published table. */
  readonly retryIntervalMs: number | null;
  readonly remoteOf: (env: string, app: string, runtime: Runtime) => Remote;
  /** Workers of the app that are connected right now. */
  readonly workerCount: (env: string, app: string) => number;
}

interface Noted {
  readonly registration: Omit<AppRegistration, "functions"> | null;
  readonly syncedAt: number | null;
  readonly error: string | null;
}

export class ServedApps implements Apps {
  private readonly notes = new Map<string, Noted>();

  constructor(private readonly options: ServedAppsOptions) {}

  async register(env: string, registration: AppRegistration): Promise<{ readonly modified: boolean }> {
    const { app, formerApps, functions, ...about } = registration;
    const engine = await this.options.engine(env);
    const codes = functions.map(({ fn, config }) => this.codeOf(env, app, fn, config));
    const { changed } = await engine.serve(app, codes, formerApps);
    const before = this.notes.get(noteName(env, app))?.registration ?? null;
    const moved = before !== null && before.appVersion !== about.appVersion;
    this.note(env, app, { registration: { app, ...about }, syncedAt: this.options.platform.wallMs(), error: null });
    if (engine.store.shared !== null) this.follow(env, engine);
    return { modified: changed || moved };
  }

  /**
   * Functions of apps in the store are executed without waiting for their next sync, whichever node they registered at. Where several nodes execute,
   * an app whose workers connect is reached from the nodes they are connected to; the others leave its runs to those.
   */
  follow(env: string, engine: Engine): void {
    const byApp = new Map<string, RemoteCode[]>([...engine.servedApps].map((app) => [app, []]));
    for (const { fn, app, config } of engine.registry.all) {
      if (config.runtime === undefined) continue;
      const codes = byApp.get(app) ?? [];
      byApp.set(app, codes);
      this.noteKnown(env, app, urlOf(config.runtime));
      if (this.isReached(engine, app, config.runtime)) codes.push(this.codeOf(env, app, fn, config));
    }
    for (const [app, codes] of byApp) engine.reach(app, codes);
  }

  private isReached({ store, env }: Engine, app: string, { kind }: Runtime): boolean {
    return kind !== "connect" || store.shared === null || this.options.workerCount(env, app) > 0;
  }

  /** An app that registered at another node, or at this one before a restart. */
  private noteKnown(env: string, app: string, url: string | null): void {
    if (this.notes.has(noteName(env, app))) return;
    const registration = { app, url, sdk: null, framework: null, appVersion: null };
    this.note(env, app, { registration, syncedAt: null, error: null });
  }

  async list(env: string): Promise<readonly ServedApp[]> {
    const engine = await this.options.engine(env);
    const apps = new Map<string, ServedApp>();
    for (const { app, config } of engine.registry.all) {
      const { runtime } = config;
      if (runtime === undefined) continue;
      const known = apps.get(app);
      apps.set(app, {
        ...this.about(env, app),
        url: known?.url ?? urlOf(runtime),
        kind: runtime.kind,
        functionCount: (known?.functionCount ?? 0) + 1,
        workers: runtime.kind === "connect" ? this.options.workerCount(env, app) : null,
      });
    }
    for (const [name, { registration, error }] of this.notes) {
      const [noteEnv, app] = JSON.parse(name) as [string, string];
      if (noteEnv !== env || apps.has(app) || (registration === null && error === null)) continue;
      const kind = registration?.url === null ? ("connect" as const) : ("http" as const);
      const workers = kind === "connect" ? this.options.workerCount(env, app) : null;
      apps.set(app, {
        ...this.about(env, app),
        url: registration === null ? app : registration.url,
        kind,
        functionCount: 0,
        workers,
      });
    }
    return [...apps.values()];
  }

  /** Until an app has said its name it is known by its address. */
  noteFailure(env: string, url: string, error: string): boolean {
    const known = [...this.notes].find(
      ([name, { registration }]) => JSON.parse(name)[0] === env && registration?.url === url,
    );
    if (known !== undefined) {
      this.notes.set(known[0], { ...known[1], error });
      return known[1].error !== error;
    }
    const before = this.notes.get(noteName(env, url));
    if (before === undefined) this.makeRoom();
    this.note(env, url, { registration: null, syncedAt: null, error });
    return before?.error !== error;
  }

  noteWorkerFailure(env: string, app: string, error: string): void {
    const known = this.notes.get(noteName(env, app));
    if (known === undefined) this.makeRoom();
    const registration = { app, url: null, sdk: null, framework: null, appVersion: null };
    this.note(env, app, known === undefined ? { registration, syncedAt: null, error } : { ...known, error });
  }

  private makeRoom(): void {
    const failed = [...this.notes].filter(([, { syncedAt, error }]) => syncedAt === null && error !== null);
    if (failed.length >= failedAppsMax) this.notes.delete(failed[0]![0]);
  }

  private note(env: string, app: string, noted: Noted): void {
    this.notes.set(noteName(env, app), noted);
    const { registration } = noted;
    // Its address has a name now.
    if (registration !== null && registration.url !== null) this.notes.delete(noteName(env, registration.url));
  }

  private about(env: string, app: string) {
    const noted = this.notes.get(noteName(env, app));
    return {
      app,
      sdk: noted?.registration?.sdk ?? null,
      framework: noted?.registration?.framework ?? null,
      appVersion: noted?.registration?.appVersion ?? null,
      syncedAt: noted?.syncedAt ?? null,
      error: noted?.error ?? null,
    };
  }

  private codeOf(env: string, app: string, fn: string, config: FunctionConfig): RemoteCode {
    const { retryIntervalMs } = this.options;
    return {
      fn,
      config,
      backoff: retryIntervalMs === null ? null : () => retryIntervalMs,
      middleware: [],
      remote: this.options.remoteOf(env, app, config.runtime!),
    };
  }
}

// Addresses and workers that never became an app: the latest are worth showing.
const failedAppsMax = 50;

const noteName = (env: string, app: string): string => JSON.stringify([env, app]);

function urlOf(runtime: Runtime): string | null {
  if (runtime.kind === "connect") return null;
  const url = new URL(runtime.url);
  for (const name of ["fnId", "stepId", "deployId"]) url.searchParams.delete(name);
  return url.href;
}
