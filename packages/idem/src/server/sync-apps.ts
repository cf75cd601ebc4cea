// Keeps what is registered in step with the apps: the ones given at start until they are up, the known ones for changes of
// their functions, and in dev those found on this machine. An app is registered again only when what it says changed.
//
// One app, one URL: an app that answers at a second URL keeps its first as long as that works, and moves when it does not.
import type { IdemError } from "../model/errors.ts";
import type { HttpCalls } from "../platform/node-http.ts";
import type { Timer } from "../platform/platform.ts";
import { canonicalAppUrl, shownUrl } from "../protocol/app-url.ts";
import type { RegisterRequest } from "../protocol/register-request.ts";
import { defaultEnv } from "./admit-caller.ts";
import type { ServedApp } from "./apps.ts";
import { Discovery, type TriedPort } from "./discover-apps.ts";
import { openSyncCalls, type Synced, type SyncWorld, syncApp } from "./sync-app.ts";
import type { World } from "./world.ts";

const everyMs = 5_000;

export interface Syncing {
  /** Ports that were tried on this machine; empty where nobody looks. */
  readonly tried: () => readonly TriedPort[];
  /** Resolves once nothing is asked any more. */
  stop(): Promise<void>;
}

export function startSyncing(
  world: SyncWorld & Pick<World, "logger" | "health">,
  http = openSyncCalls(world.settings),
): Syncing {
  const rounds = new SyncRounds(world, http);
  rounds.begin();
  return { tried: () => rounds.tried, stop: () => rounds.stop() };
}

class SyncRounds {
  private readonly discovery: Discovery;
  private readonly stopped = new AbortController();
  /** Asked right now, by URL: a slow app holds up nobody but itself. */
  private readonly asking = new Map<string, Promise<void>>();
  /** URLs given at start that did not answer yet. */
  private readonly awaited: Set<string>;
  /** By URL, what was last complained about: the same again is not news. */
  private readonly said = new Map<string, string>();
  private readonly down = new Set<string>();
  /** By URL, the registration last made from it. */
  private readonly registered = new Map<string, string>();
  private timer: Timer | null = null;

  constructor(
    private readonly world: SyncWorld & Pick<World, "logger" | "health">,
    private readonly http: HttpCalls,
  ) {
    this.discovery = new Discovery(http, world.platform, everyMs);
    this.awaited = new Set(world.settings.sdkUrls.map((url) => canonicalAppUrl(url) ?? url));
  }

  get tried(): readonly TriedPort[] {
    return this.discovery.tried;
  }

  begin(): void {
    void this.round();
  }

  async stop(): Promise<void> {
    this.stopped.abort();
    this.timer?.cancel();
    await Promise.allSettled(this.asking.values());
    this.http.close();
  }

  private async round(): Promise<void> {
    const { settings } = this.world;
    try {
      for (const url of this.awaited) this.ask(defaultEnv, url, () => true);
      if (settings.poll) await this.poll();
      if (this.discovers) this.once("discovery", () => this.discover());
    } catch (error) {
      if (!this.stopped.signal.aborted) this.world.health.report("looking after apps", error);
    }
    if (this.stopped.signal.aborted) return;
    const isOver = this.awaited.size === 0 && !settings.poll && !this.discovers;
    if (!isOver) this.timer = this.world.platform.timer(everyMs, () => void this.round(), { background: true });
  }

  private get discovers(): boolean {
    const { discovery, mode } = this.world.settings;
    return discovery && mode === "dev";
  }

  private async poll(): Promise<void> {
    const now = this.world.platform.wallMs();
    for (const env of [...this.world.engines.keys()]) {
      for (const app of await this.world.apps.list(env)) {
        if (app.kind !== "http" || app.url === null || this.awaited.has(app.url)) continue;
        // It has just registered by itself.
        const isFresh = app.error === null && app.syncedAt !== null && now - app.syncedAt < everyMs / 2;
        if (!isFresh) this.ask(env, app.url, (registration) => this.isNews(app, registration));
      }
    }
  }

  private isNews({ app, error }: ServedApp, registration: RegisterRequest): boolean {
    return error !== null || app !== registration.app || this.registered.get(registration.url) !== textOf(registration);
  }

  private async discover(): Promise<void> {
    const { apps, origin, settings } = this.world;
    const known = await apps.list(defaultEnv);
    const urls = [origin, ...settings.sdkUrls, ...known.filter(({ app, url }) => app !== url).map(({ url }) => url)];
    const ports = new Set(urls.filter((url) => url !== null && URL.canParse(url)).map((url) => portOf(url!)));
    for (const url of await this.discovery.look(ports, this.stopped.signal)) {
      this.ask(defaultEnv, url, (registration) => this.isFree(registration));
    }
  }

  /** Nobody has its name, or the one who has it does not answer. */
  private async isFree({ app, url }: RegisterRequest): Promise<boolean> {
    const holder = (await this.world.apps.list(defaultEnv)).find((each) => each.app === app && each.url !== url);
    // One that was only read from the store may have been elsewhere for days.
    if (holder === undefined || holder.error !== null || holder.syncedAt === null) return true;
    this.say(
      url,
      `idem: app "${app}" also answers at ${shownUrl(url)}; calls still go to ${shownUrl(holder.url ?? "")}`,
    );
    return false;
  }

  private ask(env: string, url: string, wants: (registration: RegisterRequest) => boolean | Promise<boolean>): void {
    this.once(`${env} ${url}`, async () => {
      const note = async (registration: RegisterRequest) => {
        const isWanted = await wants(registration);
        if (isWanted) this.registered.set(registration.url, textOf(registration));
        return isWanted;
      };
      const options = { http: this.http, signal: this.stopped.signal, wants: note };
      try {
        this.succeeded(url, await syncApp(this.world, env, url, options));
      } catch (error) {
        if (!this.stopped.signal.aborted) this.failed(url, error as IdemError);
      }
    });
  }

  private once(name: string, run: () => Promise<void>): void {
    if (this.asking.has(name) || this.stopped.signal.aborted) return;
    const running = run()
      .catch((error) => {
        if (!this.stopped.signal.aborted) this.world.health.report("looking after apps", error);
      })
      .finally(() => this.asking.delete(name));
    this.asking.set(name, running);
  }

  private succeeded(url: string, { app, modified }: Synced): void {
    const wasAwaited = this.awaited.delete(url);
    const wasDown = this.down.delete(url);
    if (!wasAwaited && !wasDown && !modified) return;
    this.said.delete(url);
    const what = modified ? "its functions are registered" : "its functions are unchanged";
    this.world.logger.info(`idem: ${app === null ? "the app" : `app "${app}"`} at ${shownUrl(url)} answers; ${what}`);
  }

  private failed(url: string, error: IdemError): void {
    this.registered.delete(url);
    this.down.add(url);
    this.say(url, `idem: ${error.message} It is asked again every ${everyMs / 1_000} s.`);
  }

  private say(url: string, text: string): void {
    if (this.said.get(url) === text) return;
    this.said.set(url, text);
    this.world.logger.warn(text);
  }
}

const textOf = (registration: RegisterRequest): string => JSON.stringify(registration);

function portOf(text: string): number {
  const { port, protocol } = new URL(text);
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}
