// The functions registered in the store, as this process last saw them. The store says when the picture is old.
import { TriggerIndex } from "../ingest/match-triggers.ts";
import type { Target } from "../ingest/open-runs.ts";
import type { FunctionConfig } from "../model/function-config.ts";
import { functionSlug } from "../model/function-config.ts";
import type { Store } from "../store/store.ts";

export interface RegisteredTarget extends Target {
  readonly app: string;
}

export class Registry {
  registration = 0;
  private targets = new Map<string, RegisteredTarget>();
  private index = new TriggerIndex<RegisteredTarget>([]);

  constructor(
    private readonly store: Store,
    private readonly env: string,
    private readonly app: string,
    /** Fingerprint of a function's code in this process. */
    private readonly codeOf: (fn: string) => string | undefined = () => undefined,
    /** Told when what was read is another registration than the one before. */
    private readonly onChanged: () => void = () => {},
  ) {}

  async refresh(): Promise<void> {
    const { registration, functions } = await this.store.reads.functions(this.env);
    const { codeOf } = this;
    const targets = functions.map(({ fn, app, config, pausedAt }) => ({
      fn,
      app,
      config: JSON.parse(config) as FunctionConfig,
      pausedAt,
      // Asked when a run begins: code may come after its registration was read.
      get code() {
        return codeOf(fn);
      },
    }));
    const isOther = registration !== this.registration;
    this.registration = registration;
    this.targets = new Map(targets.map((target) => [target.fn, target]));
    this.index = new TriggerIndex(targets);
    if (isOther) this.onChanged();
  }

  match(eventName: string) {
    return this.index.match(eventName);
  }

  get all(): readonly RegisteredTarget[] {
    return [...this.targets.values()];
  }

  get(fn: string): RegisteredTarget | null {
    return this.targets.get(fn) ?? null;
  }

  /** By its id in this app, or by its full name in the environment. */
  find(idOrSlug: string): RegisteredTarget | null {
    return this.targets.get(functionSlug(this.app, idOrSlug)) ?? this.targets.get(idOrSlug) ?? null;
  }

  /** How this app's people call a function: by its own id if it is theirs. */
  displayName(fn: string): string {
    const target = this.targets.get(fn);
    return target !== undefined && target.app === this.app ? target.config.id : fn;
  }

  slugOf(idOrSlug: string): string {
    return this.find(idOrSlug)?.fn ?? idOrSlug;
  }
}
