// What other processes may ask of the one that owns a store. The command line asks through the owner's local socket
// (owner-door.ts), or, when no owner lives, sits down at a desk of its own after taking the file.
import { errors } from "../model/errors.ts";
import type { PruneAnswer, ReleaseAnswer, Store } from "../store/store.ts";
import type { RunsApi } from "./reads-api.ts";
import type { SendResult } from "./send-result.ts";

export interface DeskAnswers {
  readonly hello: { readonly owner: string };
  readonly send: SendResult;
  readonly rerun: { readonly runId: string };
  readonly cancel: { readonly cancelled: boolean };
  readonly release: { readonly answer: ReleaseAnswer };
  readonly prune: PruneAnswer;
}

export type DeskCommand = keyof DeskAnswers;

interface DeskRequests {
  readonly hello: Record<never, never>;
  readonly send: { readonly event: unknown; readonly window?: string };
  readonly rerun: { readonly runId: string; readonly fromStep?: string; readonly input?: readonly unknown[] };
  readonly cancel: { readonly runId: string; readonly reason: string };
  readonly release: { readonly scope: string; readonly key: string; readonly reason: string };
  readonly prune: { readonly before: number; readonly after: string };
}

/** Asks one thing of whoever owns the store. */
export type Ask = <C extends DeskCommand>(command: C, env: string, request: DeskRequests[C]) => Promise<DeskAnswers[C]>;

/** What the desk does in an environment; a client is one. */
export interface DeskClient {
  send(event: never, options: { readonly window?: string }): Promise<SendResult>;
  readonly runs: Pick<RunsApi, "rerun" | "cancel">;
}

export interface DeskOptions {
  readonly store: Store;
  readonly owner: string;
  /** A client in that environment; the owner's own where it has one, so that what is sent is executed at once. */
  readonly clientIn: (env: string) => DeskClient;
}

// One commit may hold up others for a few milliseconds, no longer.
const pruneRowsMax = 500;

export function openDesk({ store, owner, clientIn }: DeskOptions): Ask {
  const answers: { [C in DeskCommand]: (env: string, request: DeskRequests[C]) => Promise<DeskAnswers[C]> } = {
    hello: async () => ({ owner }),
    send: (env, { event, window }) => clientIn(env).send(event as never, window === undefined ? {} : { window }),
    rerun: (env, { runId, fromStep, input }) =>
      clientIn(env).runs.rerun(text(runId, "runId"), {
        ...(fromStep === undefined ? {} : { fromStep: text(fromStep, "fromStep") }),
        ...(input === undefined ? {} : { input }),
      }),
    cancel: (env, { runId, reason }) =>
      clientIn(env).runs.cancel(text(runId, "runId"), { reason: text(reason, "reason") }),
    release: async (env, { scope, key, reason }) => ({
      answer: await store.release({
        env,
        scope: text(scope, "scope"),
        key: text(key, "key"),
        fence: null,
        reason: text(reason, "reason"),
      }),
    }),
    prune: (env, { before, after }) => {
      if (!Number.isSafeInteger(before)) {
        throw errors.OPTION_INVALID({ option: "before", why: "it must be an instant in whole milliseconds" });
      }
      return store.prune({ env, before, after: text(after, "after", ""), max: pruneRowsMax });
    },
  };
  return async (command, env, request) => {
    if (!Object.hasOwn(answers, command)) {
      const known = Object.keys(answers).join(", ");
      throw errors.OPTION_INVALID({ option: "command", why: `${JSON.stringify(command)} is none of ${known}` });
    }
    return answers[command](text(env, "env"), request);
  };
}

/** What came over a socket is only said to be a string. */
function text(value: unknown, option: string, empty?: ""): string {
  if (typeof value === "string" && (value !== "" || empty === "")) return value;
  throw errors.OPTION_INVALID({ option, why: "it must be a text that is not empty" });
}
