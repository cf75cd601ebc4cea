// The functions registered in the store, as this process last saw them. The store says when the picture is old.
import { limitsAt, readTemporary, type TemporaryLimit } from "../flow/concurrency/temporary.ts";
import { TriggerIndex } from "../ingest/match-triggers.ts";
import type { Target } from "../ingest/open-runs.ts";
import type { SearchFields } from "../model/event-values.ts";
import type { FunctionConfig } from "../model/function-config.ts";
import { functionSlug } from "../model/function-config.ts";
import { recordedNames, shownName } from "../model/function-names.ts";
import { searchKind } from "../store/event-values.ts";
import type { Store } from "../store/store.ts";

export interface RegisteredTarget extends Target {
  readonly app: string;
}

export class Registry {
  registration = 0;
  private targets = new Map<string, RegisteredTarget>();
  /** Of those that were renamed: by the name of today, and by those they had. */
  private renamed = new Map<string, RegisteredTarget>();
  /** Of this app's that were renamed: by the id of today. */
  private ownIds = new Map<string, RegisteredTarget>();
  /** Which fields of events people search by. */
  fields: SearchFields = new Map();
  /** When temporary limits end, those that have too. */
  private limitEnds: readonly number[] = [];
  private index = new TriggerIndex<RegisteredTarget>([]);

  constructor(
    private readonly store: Store,
    private readonly env: string,
    private readonly app: string,
    /** Fingerprint of a function's code in this process. */
    private readonly codeOf: (fn: string) => string | undefined = () => undefined,
    /** By the store's clock. */
    private readonly now: () => number,
    /** Called when another registration was read than the one before. */
    private readonly onChanged: () => void = () => {},
  ) {}

  async refresh(): Promise<void> {
    const { reads } = this.store;
    // Before the functions: what is chosen in between comes with another registration.
    const chosen = await reads.settings(this.env, searchKind);
    const { registration, functions } = await reads.functions(this.env);
    this.fields = new Map(chosen.map(({ name, value }) => [name, JSON.parse(value) as string[]]));
    const { codeOf } = this;
    const { now } = this;
    const targets = functions.map(({ fn, app, config, pausedAt, limits }) => {
      const own = JSON.parse(config) as FunctionConfig;
      const temporary = readTemporary(limits);
      return {
        fn,
        app,
        pausedAt,
        // Asked when a run begins: a temporary limit ends by itself.
        get config() {
          return temporary.length === 0 ? own : configAt(own, temporary, now());
        },
        // And code may come after its registration was read.
        get code() {
          return codeOf(fn);
        },
      };
    });
    this.limitEnds = functions
      .flatMap(({ limits }) => readTemporary(limits).map(({ until }) => until))
      .sort((a, b) => a - b);
    const isOther = registration !== this.registration;
    this.registration = registration;
    this.targets = new Map(targets.map((target) => [target.fn, target]));
    this.learnNames(targets.filter(({ config }) => config.was !== undefined));
    this.index = new TriggerIndex(targets);
    if (isOther) this.onChanged();
  }

  private learnNames(renamed: readonly RegisteredTarget[]): void {
    const formers = renamed.flatMap((each) => recordedNames(each).map((name) => [name, each] as const));
    this.renamed = new Map([...formers, ...renamed.map((each) => [shownName(each), each] as const)]);
    this.ownIds = new Map(renamed.filter(({ app }) => app === this.app).map((each) => [each.config.id, each]));
  }

  /** Another number says that what functions allow may have changed by itself: a temporary limit has ended. */
  get limitsEnded(): number {
    if (this.limitEnds.length === 0) return 0;
    const now = this.now();
    return this.limitEnds.filter((until) => until <= now).length;
  }

  /** When the next temporary limit ends; null where none counts. */
  get nextLimitEnd(): number | null {
    return this.limitEnds[this.limitsEnded] ?? null;
  }

  match(eventName: string) {
    return this.index.match(eventName);
  }

  get all(): readonly RegisteredTarget[] {
    return [...this.targets.values()];
  }

  /** Whether any function has, or had, another name than the one rows have it under. */
  get hasRenamed(): boolean {
    return this.renamed.size > 0;
  }

  /** By the name that rows have it under, or any other of its full names. */
  get(fn: string): RegisteredTarget | null {
    return this.targets.get(fn) ?? this.renamed.get(fn) ?? null;
  }

  /** By its id in this app, or by its full name in the environment; both as they are today, or were. */
  find(idOrSlug: string): RegisteredTarget | null {
    return this.get(functionSlug(this.app, idOrSlug)) ?? this.ownIds.get(idOrSlug) ?? this.get(idOrSlug);
  }

  /** A function's name for this app's people: its own id if it is theirs. */
  displayName(fn: string): string {
    const target = this.get(fn);
    if (target === null) return fn;
    return target.app === this.app ? target.config.id : shownName(target);
  }

  /** `<app>-<id>` as people call it, of the name that rows have it under. */
  fullName(fn: string): string {
    const target = this.get(fn);
    return target === null ? fn : shownName(target);
  }

  /** An app as people call it, of the name that rows have it under. */
  appName(app: string): string {
    const renamed = [...this.renamed.values()].find((target) => target.app === app);
    return renamed?.config.app ?? app;
  }

  slugOf(idOrSlug: string): string {
    return this.find(idOrSlug)?.fn ?? idOrSlug;
  }
}

function configAt(own: FunctionConfig, temporary: readonly TemporaryLimit[], now: number): FunctionConfig {
  const { concurrency } = own;
  if (concurrency === undefined) return own;
  const limits = limitsAt(concurrency, temporary, now);
  return limits === concurrency ? own : { ...own, concurrency: limits };
}
