// Durable endpoints are not synced: the first report of one makes its app and function known.
import type { Engine } from "../../engine/engine.ts";
import { type FunctionConfig, functionSlug } from "../../model/function-config.ts";
import { retriesMax } from "../../model/function-options.ts";
import type { EndpointStart } from "../../protocol/endpoint-request.ts";
import type { Apps } from "../apps.ts";
import { endpointLimits } from "./limits.ts";

/** One registration of an app at a time: each names all of its functions. */
export class EndpointFunctions {
  private readonly turns = new Map<string, Promise<unknown>>();
  /** Apps with as many functions as they may have: their other endpoints share a name. */
  private readonly full = new Set<string>();

  constructor(private readonly apps: Pick<Apps, "register">) {}

  /** The function's full name. */
  async ensure(engine: Engine, start: EndpointStart): Promise<string> {
    const turnOf = JSON.stringify([engine.env, start.call.domain]);
    const known = this.known(engine, start, turnOf);
    if (known !== null) return known;
    const turn = (this.turns.get(turnOf) ?? Promise.resolve()).then(() => this.register(engine, start, turnOf));
    const settled = turn
      .catch(() => {})
      .finally(() => {
        if (this.turns.get(turnOf) === settled) this.turns.delete(turnOf);
      });
    this.turns.set(turnOf, settled);
    return turn;
  }

  /** Its name where it, or what stands for it, is registered as it should be. */
  private known({ registry }: Engine, start: EndpointStart, app: string): string | null {
    const { domain } = start.call;
    const own = registry.get(functionSlug(domain, idOf(start)));
    if (own !== null) return own.config.retries === clampRetries(start) ? own.fn : null;
    return this.full.has(app) ? (registry.get(functionSlug(domain, sharedId(start)))?.fn ?? null) : null;
  }

  private async register(engine: Engine, start: EndpointStart, turnOf: string): Promise<string> {
    await engine.registry.refresh();
    const known = this.known(engine, start, turnOf);
    if (known !== null) return known;
    const { domain } = start.call;
    const { functions } = await engine.store.reads.functions(engine.env);
    const others = functions
      .filter(({ app }) => app === domain)
      .map(({ fn, config }) => ({ fn, config: JSON.parse(config) as FunctionConfig }));
    const isFull =
      others.length >= endpointLimits.functionsMax && engine.registry.get(functionSlug(domain, idOf(start))) === null;
    if (isFull) this.full.add(turnOf);
    const own = configOf(start, isFull);
    const fn = functionSlug(domain, own.id);
    await this.apps.register(engine.env, {
      app: domain,
      url: domain,
      functions: [...others.filter((other) => other.fn !== fn), { fn, config: own }],
      sdk: null,
      framework: null,
      appVersion: null,
    });
    return fn;
  }
}

function configOf(start: EndpointStart, isFull: boolean): FunctionConfig {
  const id = isFull ? sharedId(start) : idOf(start);
  return {
    id,
    name: id,
    // Its runs are begun by the app; no event starts one.
    triggers: [],
    retries: clampRetries(start),
    idempotency: null,
    startTimeoutMs: null,
    finishTimeoutMs: null,
    runtime: { kind: "endpoint", url: start.call.domain },
  };
}

const clampRetries = ({ retries }: EndpointStart): number => Math.min(retries, retriesMax);

function idOf(start: EndpointStart): string {
  const id = start.name ?? `${start.call.method} ${start.call.path}`;
  return id.length <= endpointLimits.nameCharsMax ? id : sharedId(start);
}

const sharedId = ({ call }: EndpointStart): string => `${call.method} *`;
