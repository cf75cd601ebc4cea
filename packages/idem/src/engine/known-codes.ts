// The code that this process has or reaches, by every name its functions ever had, and its registration in the store. Matching uses what is
// registered, so a process that only sends decides the same.
import { fingerprintOf } from "../execute/code-of-run.ts";
import type { Code, RemoteCode } from "../execute/function-code.ts";
import { errors } from "../model/errors.ts";
import { leftBehind, type NamedFunction, namedOf, recordedNames } from "../model/function-names.ts";
import type { Store } from "../store/store.ts";

export class KnownCodes {
  private readonly codes = new Map<string, Code>();
  /** Which of them each app serves from elsewhere. */
  private readonly served = new Map<string, readonly string[]>();

  constructor(private readonly options: { readonly store: Store; readonly env: string }) {}

  /** Runs that began under any name of a function are its own. */
  get byName(): ReadonlyMap<string, Code> {
    return this.codes;
  }

  /** Of the code that this process has of it. */
  fingerprint(fn: string): string | undefined {
    const code = this.codes.get(fn);
    return code === undefined ? undefined : fingerprintOf(code);
  }

  /** Apps whose functions were reachable from here at some time. */
  get servedApps(): Iterable<string> {
    return this.served.keys();
  }

  clear(): void {
    this.codes.clear();
  }

  add(codes: readonly Code[]): void {
    for (const code of codes) for (const name of recordedNames(code)) this.codes.set(name, code);
  }

  /** The functions of an app whose code is elsewhere; those it had before and does not name now are gone. */
  reach(app: string, codes: readonly RemoteCode[]): void {
    for (const fn of this.served.get(app) ?? []) this.codes.delete(fn);
    this.add(codes);
    this.served.set(app, codes.flatMap(recordedNames));
  }

  /** Whether this changed what was registered; throws where a name is another app's, or runs would be left behind under an old one. */
  async register(app: string, codes: readonly Code[], formerApps: readonly string[]): Promise<boolean> {
    const { env, store } = this.options;
    if (codes.some(({ config }) => config.was !== undefined)) {
      await this.refuseLeavingBehind(codes.map(({ fn, config }) => ({ fn, app, config })));
    }
    const answer = await store.register({
      env,
      app,
      functions: codes.map((code) => ({
        fn: code.fn,
        id: code.config.id,
        config: JSON.stringify({ ...code.config, fingerprint: fingerprintOf(code) }),
        crons: code.config.triggers.flatMap((trigger) => ("cron" in trigger ? trigger.cron : [])),
      })),
    });
    if (answer.kind === "registered") {
      // What was registered under another name it had, before `was` said so. Behind the registration: no event in between starts nothing.
      for (const former of formerApps) {
        if (former !== app) await store.register({ env, app: former, functions: [] });
      }
      return answer.changed;
    }
    throw errors.FUNCTION_INVALID({
      function: answer.fn,
      why: `app "${answer.app}" already has a function of that name in this environment`,
    });
  }

  /** Going on would leave runs, windows and schedules under a name that nobody asks for; whoever has the function goes on with it. */
  private async refuseLeavingBehind(own: readonly NamedFunction[]): Promise<void> {
    const { store, env } = this.options;
    const { functions } = await store.reads.functions(env);
    const living = functions.map(namedOf);
    for (const named of own) {
      const found = leftBehind(named, own, living);
      if (found !== null) throw errors.FUNCTION_WAS_CONFLICT({ function: named.config.id, why: found.why });
    }
  }
}
