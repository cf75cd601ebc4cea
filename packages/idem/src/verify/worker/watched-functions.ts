// The user's functions as a world registers them: what they ask of `step`, what they send and what they wait for is seen.
import type { DestinationOf } from "../../dedup/destination-key.ts";
import type { FunctionCode, HandlerInput } from "../../execute/function-code.ts";
import type { StepTools } from "../../execute/step-tools.ts";
import type { TakenClient } from "../../sdk/take-client.ts";
import { awaitedData } from "../awaited-event.ts";
import type { Json, Place, SeenEffect } from "../thing.ts";
import { isLike } from "../verify-memory.ts";
import { carryAbsent } from "./absent-fields.ts";
import { asCaller, type Caller, currentCaller, placeHere, stepHere } from "./caller.ts";
import type { Life } from "./life.ts";
import type { Simulation } from "./simulation.ts";
import type { WorldScript } from "./world-script.ts";

/** A wait of a run, until its event or signal is sent. */
export interface Wait {
  readonly for: { readonly event: string } | { readonly signal: string };
  readonly runId: string;
  readonly step: string;
  /** Ends the wait; null where nothing can be made that does. */
  readonly data: Json;
  /** Why there is nothing that would end it. */
  readonly unmade: string | null;
  /** Times it was sent: in a loop a step of one name waits several times. */
  readonly sent: Map<string, number>;
}

export interface WatchedFunctionsOptions {
  readonly script: WorldScript;
  readonly simulation: Simulation;
  /** The piece of work a run is for. */
  readonly workOf: (fn: string, runId: string) => Promise<DestinationOf | null>;
  readonly stir: () => void;
  readonly now: () => number;
  readonly say: (text: string) => void;
  readonly unproven: (what: string) => void;
  /** The engine's store is in a database that worlds have. */
  readonly isTransactional: () => boolean;
  readonly throwsNow: (step: string) => boolean;
}

const nameOf = (id: unknown): string =>
  typeof id === "string" ? id : String((id as { id?: unknown } | null)?.id ?? "");

/** Tools whose steps a run can be rerun from: they do something. */
const doing = new Set(["run", "fetch", "effect", "sendEvent", "invoke"]);

export class WatchedFunctions {
  /** Of the function that is looked at. */
  readonly steps = new Set<string>();
  readonly waits = new Map<string, Wait>();
  /** Events that functions sent, numbered downwards from -1: commits meet what goes wrong with them, and no number of an effect does. */
  readonly sent: SeenEffect[] = [];
  private readonly places = new Map<string, Place | null>();

  constructor(private readonly options: WatchedFunctionsOptions) {}

  placeOfStep(runId: string, step: string): Place | null {
    return this.places.get(`${runId} ${step}`) ?? null;
  }

  /** Functions as the world registers them: only the one that is looked at receives what is delivered, and no clock starts any. */
  fit(life: Life, { codes, client }: TakenClient): void {
    const { fn, names, tickName } = this.options.script;
    for (const [i, code] of codes.entries()) {
      const isTarget = code.fn === fn;
      const events = code.config.triggers.flatMap((each) => ("event" in each ? [each] : []));
      const triggers = isTarget
        ? [
            ...events,
            ...(events.length < code.config.triggers.length || events.length === 0 ? [{ event: tickName }] : []),
          ]
        : events.filter(({ event }) => !names.includes(event));
      const config = isTarget ? this.options.simulation.configOf(code.config) : code.config;
      codes[i] = { ...code, config: { ...config, triggers }, handler: this.watchedHandler(life, code) };
    }
    const send = client.send.bind(client) as (...args: unknown[]) => Promise<unknown>;
    const watched = (payload: unknown, ...rest: unknown[]): Promise<unknown> => {
      const caller = currentCaller();
      if (caller?.run != null) this.noteSent(caller, payload, stepHere()?.step ?? null, placeHere(watched));
      return send(payload, ...rest);
    };
    Object.defineProperty(client, "send", { configurable: true, value: watched });
  }

  private noteSent({ life, run }: Caller, payload: unknown, step: string | null, place: Place | null): void {
    for (const each of Array.isArray(payload) ? payload : [payload]) {
      const { name, id } = (each ?? {}) as { name?: unknown; id?: unknown };
      this.sent.push({
        index: -1 - this.sent.length,
        watcher: "events",
        title: `event ${String(name)}`,
        at: this.options.now(),
        life: life.index,
        fn: run?.fn ?? null,
        runId: run?.runId ?? null,
        step,
        isLate: false,
        place,
        key: typeof id === "string" ? id : null,
        isForgotten: false,
        became: "happened",
      });
    }
  }

  private watchedHandler(life: Life, code: FunctionCode): FunctionCode["handler"] {
    const { handler } = code;
    return async (input: HandlerInput) => {
      const run = { fn: code.fn, runId: input.runId, isOver: false };
      const step = this.watchedStep(input.step, code.fn, input);
      const { simulation, workOf, now, stir } = this.options;
      await simulation.enterRun(run.runId, now(), () => workOf(code.fn, run.runId));
      try {
        return await asCaller({ life, run }, async () => {
          const made: unknown = await handler({ ...input, step });
          await simulation.awaitRest(stir);
          return made;
        });
      } finally {
        run.isOver = true;
      }
    };
  }

  private watchedStep(step: StepTools, fn: string, { runId, event }: HandlerInput): StepTools {
    const watched = new Proxy(step, {
      get: (target, tool) => {
        const value = Reflect.get(target, tool) as unknown;
        if (typeof value !== "function") return value;
        const call = value.bind(target) as (...args: unknown[]) => unknown;
        const asked = (...args: unknown[]): unknown => {
          const id = nameOf(args[0]);
          const name = `${runId} ${id}`;
          if (fn === this.options.script.fn && doing.has(String(tool)) && isNamed(tool, args)) this.steps.add(id);
          if (!this.places.has(name)) this.places.set(name, placeHere(asked));
          switch (tool) {
            case "run":
              return call(...this.failing(id, args));
            case "effect":
              return call(...carrying(args));
            case "transaction":
              // With an adapter it is a database of the user's own, which is watched where its driver is.
              if (typeof args[1] === "function" && !this.options.isTransactional())
                this.options.unproven(
                  `step.transaction "${id}" writes to the engine's database, which a world does not have; name it in databases: [{ env: "DATABASE_URL" }] of idem.verify.ts, with the variable that store: has its address of`,
                );
              break;
            case "sendEvent": {
              const caller = currentCaller();
              if (caller !== null && !this.sent.some((each) => each.runId === runId && each.step === id)) {
                this.noteSent(caller, args[1], id, this.places.get(name) ?? null);
              }
              break;
            }
            case "waitForEvent":
            case "waitForSignal":
              if (!this.waits.has(name)) {
                const { waits = {} } = this.options.script;
                this.waits.set(name, waitOf(waits, { step: id, runId, event, asked: args[1] }));
              }
              break;
          }
          return call(...args);
        };
        return asked;
      },
    });
    return watched;
  }

  /** The arguments of a `step.run` whose body fails when its schedule says so. */
  private failing(id: string, [first, body, ...args]: unknown[]): unknown[] {
    if (typeof body !== "function") return [first, body, ...args];
    const { say, throwsNow, simulation, stir } = this.options;
    const watched = async (...all: unknown[]) => {
      simulation.enterStep(all.at(-1));
      const made: unknown = await (body as (...all: unknown[]) => unknown)(...all);
      carryAbsent(made);
      await simulation.awaitRest(stir);
      if (throwsNow(id)) {
        say(`step ${id} threw, its effect had happened`);
        throw new Error("idem verify: the step failed after its effect");
      }
      return made;
    };
    return [first, watched, ...args];
  }
}

/** The wait of a step, and what would end it. `event` is its run's own, `asked` the wait as its author wrote it. */
export function waitOf(
  waits: Readonly<Record<string, Json>>,
  { step, runId, event, asked }: { step: string; runId: string; event: unknown; asked: unknown },
): Wait {
  const { event: name, signal = "", match, if: condition } = (asked ?? {}) as Record<string, string | undefined>;
  const own = (event ?? {}) as { readonly data?: Json };
  if (name === undefined) {
    const data = givenFor(waits, signal) ?? own.data ?? null;
    return { for: { signal }, runId, step, data, unmade: null, sent: new Map() };
  }
  const given = givenFor(waits, name);
  const made = awaitedData({
    name,
    event: own,
    ...(match === undefined ? {} : { match }),
    ...(condition === undefined ? {} : { if: condition }),
    ...(given === undefined ? {} : { given }),
  });
  const which = condition === undefined ? `by \`match: "${match}"\`` : `with \`if: ${condition}\``;
  const unmade =
    made === null
      ? `the event ${name} that step "${step}" waits for ${which} could not be made${given === undefined ? "" : " of what is given"}: write its data down in idem.verify.ts, functions: { "<id>": { waits: { "${name}": { … } } } }`
      : null;
  return { for: { event: name }, runId, step, data: made?.data ?? null, unmade, sent: new Map() };
}

/** By its name, or by one in which a star stands for anything. */
function givenFor(waits: Readonly<Record<string, Json>>, name: string): Json | undefined {
  const key = Object.hasOwn(waits, name) ? name : Object.keys(waits).find((each) => isLike(each, name));
  return key === undefined ? undefined : waits[key];
}

/** The arguments of a `step.effect`. */
const carrying = ([first, options, body, ...rest]: unknown[]): unknown[] => {
  if (typeof body !== "function") return [first, options, body, ...rest];
  const watched = async (...all: unknown[]) => {
    const made: unknown = await (body as (...all: unknown[]) => unknown)(...all);
    carryAbsent(made);
    return made;
  };
  return [first, options, watched, ...rest];
};

/** `step.fetch(url)` has a name that the engine makes. */
const isNamed = (tool: string | symbol, args: readonly unknown[]): boolean =>
  tool !== "fetch" || typeof args[1] === "string" || args[1] instanceof URL;
