// The connected workers, by environment and app, and the choice among them.
import type { WorkerConnection } from "./worker-connection.ts";

const keyOf = (env: string, app: string): string => JSON.stringify([env, app]);

interface Nobody {
  readonly isBusy: boolean;
  readonly why: string;
}

export class WorkerPool {
  readonly #byApp = new Map<string, Set<WorkerConnection>>();
  #calls = 0;

  add(connection: WorkerConnection): void {
    for (const app of connection.apps.keys()) {
      const key = keyOf(connection.env, app);
      const workers = this.#byApp.get(key) ?? new Set();
      this.#byApp.set(key, workers.add(connection));
    }
  }

  delete(connection: WorkerConnection): void {
    for (const app of connection.apps.keys()) {
      const key = keyOf(connection.env, app);
      const workers = this.#byApp.get(key);
      if (workers?.delete(connection) && workers.size === 0) this.#byApp.delete(key);
    }
  }

  of(env: string, app: string): ReadonlySet<WorkerConnection> {
    return this.#byApp.get(keyOf(env, app)) ?? none;
  }

  /**
   * The least busy worker with room that has the function and is not among `tried`: while a new version of an app is rolled
   * out, its workers differ. A silent one only if there is nobody else.
   */
  pick(env: string, app: string, fn: string, tried: ReadonlySet<WorkerConnection>): WorkerConnection | null {
    let best: WorkerConnection | null = null;
    for (const worker of this.of(env, app)) {
      if (!worker.hasRoom || !worker.hasFunction(app, fn) || tried.has(worker)) continue;
      if (best === null || isBetter(worker, best)) best = worker;
    }
    if (best !== null) best.lastCallOrder = ++this.#calls;
    return best;
  }

  /** In words for people, when nobody was picked: all busy, not there, or there and not able. */
  whyNobody(env: string, app: string, fn: string, tried: ReadonlySet<WorkerConnection>): Nobody {
    const ready = [...this.of(env, app)].filter(({ state }) => state === "ready");
    const able = ready.filter((worker) => worker.hasFunction(app, fn) && !tried.has(worker));
    if (able.length > 0) return { isBusy: true, why: `All ${able.length} workers of app "${app}" are busy` };
    if (ready.length === 0) {
      return { isBusy: false, why: `No worker of app "${app}" is connected; start one with connect()` };
    }
    if (tried.size > 0) return { isBusy: false, why: `No worker of app "${app}" took the call` };
    return { isBusy: false, why: `No connected worker of app "${app}" has function "${fn}"` };
  }
}

const none: ReadonlySet<WorkerConnection> = new Set();

function isBetter(a: WorkerConnection, b: WorkerConnection): boolean {
  if (a.isSilent !== b.isSilent) return b.isSilent;
  if (a.busy.size !== b.busy.size) return a.busy.size < b.busy.size;
  return a.lastCallOrder < b.lastCallOrder;
}
