// Requests of other processes to the one that owns a store. The command line asks through the owner's local socket
// (owner-socket.ts), or, when no owner lives, sits down at a desk of its own after taking the file.

import type { BulkOrder } from "../engine/bulk/act-on-runs.ts";
import type { BulkPart } from "../engine/bulk/bulk-part.ts";
import { bulkActions } from "../engine/bulk/left-out.ts";
import type { RunSelection } from "../engine/bulk/select-runs.ts";
import { limits } from "../engine/limits.ts";
import type { Verdict } from "../engine/redecide-events.ts";
import type { ResumedPart, Waiting } from "../engine/resume-function.ts";
import { errors } from "../model/errors.ts";
import { alertVerdicts, type JudgeAnswer, type JudgeInput } from "../store/alerts.ts";
import type { ReleaseAnswer } from "../store/claims.ts";
import type { PrunedPage } from "../store/prune.ts";
import { pruneEntry } from "../store/prune.ts";
import type { SettingAnswer, SettingInput } from "../store/settings.ts";
import type { Store } from "../store/store.ts";
import type { EffectsApi } from "./effects-api.ts";
import type { FunctionsApi, Limited, Paused } from "./functions-api.ts";
import { type Inside, inside } from "./inside.ts";
import type { PublicDecision } from "./public-types.ts";
import type { EventsApi, RunsApi } from "./reads-api.ts";
import { type Resealed, resealSettings } from "./sealed-store.ts";
import type { SendResult } from "./send-result.ts";

export interface DeskAnswers {
  readonly hello: { readonly owner: string };
  readonly send: SendResult;
  readonly rerun: { readonly runId: string };
  readonly cancel: { readonly cancelled: boolean };
  readonly releaseRun: { readonly released: boolean };
  readonly bulk: BulkPart;
  readonly release: { readonly answer: ReleaseAnswer };
  readonly resolveEffect: { readonly id: string; readonly state: "sent" | "released" };
  readonly pause: Paused;
  readonly limit: Limited;
  readonly resume: ResumedPart;
  readonly decide: PublicDecision;
  readonly prune: PrunedPage;
  readonly set: SettingAnswer;
  readonly reseal: Resealed;
  readonly judge: JudgeAnswer;
}

export type DeskCommand = keyof DeskAnswers;

export interface DeskRequests {
  readonly hello: Record<never, never>;
  readonly send: { readonly event: unknown; readonly window?: string };
  readonly rerun: {
    readonly runId: string;
    readonly fromStep?: string;
    readonly input?: readonly unknown[];
    readonly data?: object;
  };
  readonly cancel: { readonly runId: string; readonly reason: string };
  readonly releaseRun: { readonly runId: string; readonly reason: string };
  /** One page of runs of it; `next` of the part before in `before`. */
  readonly bulk: Omit<BulkOrder, "actor"> & { readonly selection: RunSelection; readonly before: string | null };
  readonly release: { readonly scope: string; readonly key: string; readonly reason: string };
  /** A receipt, or null: nothing had happened, and it may be sent. */
  readonly resolveEffect: { readonly id: string; readonly receipt: string | null; readonly reason: string };
  readonly pause: { readonly function: string; readonly reason: string };
  readonly limit: {
    readonly function: string;
    readonly concurrency: number | null;
    readonly for?: string;
    readonly which?: number;
    readonly reason: string;
  };
  readonly resume: {
    readonly function: string;
    readonly reason: string;
    readonly waiting: Waiting;
    readonly next: number | null;
  };
  readonly decide: {
    readonly event: string;
    readonly verdict: Verdict;
    readonly reason: string;
    readonly function?: string;
  };
  readonly prune: { readonly before: number; readonly after: string; readonly auditBefore?: number };
  readonly set: Omit<SettingInput, "env">;
  readonly reseal: Record<never, never>;
  readonly judge: Omit<JudgeInput, "env" | "by">;
}

/** Asks one thing of the store's owner. */
export type Ask = <C extends DeskCommand>(command: C, env: string, request: DeskRequests[C]) => Promise<DeskAnswers[C]>;

/** Does the desk's work in an environment; a client is one. */
export interface DeskClient {
  send(event: never, options: { readonly window?: string }): Promise<SendResult>;
  readonly runs: Pick<RunsApi, "rerun" | "cancel" | "release">;
  readonly functions: Pick<FunctionsApi, "pause" | "limit">;
  readonly events: Pick<EventsApi, "release" | "drop">;
  readonly effects: Pick<EffectsApi, "resolve">;
  readonly [inside]: Pick<Inside, "resumePart" | "bulkPart">;
}

export interface DeskOptions {
  readonly store: Store;
  readonly owner: string;
  /** The asker's name in the audit. */
  readonly actor: string;
  /** A client in that environment; the owner's own where it has one, so that what is sent is executed at once. */
  readonly clientIn: (env: string) => DeskClient;
}

export function openDesk({ store, owner, actor, clientIn }: DeskOptions): Ask {
  const answers: { [C in DeskCommand]: (env: string, request: DeskRequests[C]) => Promise<DeskAnswers[C]> } = {
    hello: async () => ({ owner }),
    send: (env, { event, window }) => clientIn(env).send(event as never, window === undefined ? {} : { window }),
    rerun: (env, { runId, fromStep, input, data }) =>
      clientIn(env).runs.rerun(text(runId, "runId"), {
        actor,
        ...(fromStep === undefined ? {} : { fromStep: text(fromStep, "fromStep") }),
        ...(input === undefined ? {} : { input }),
        ...(data === undefined ? {} : { data: data as Record<string, unknown> }),
      }),
    cancel: (env, { runId, reason }) =>
      clientIn(env).runs.cancel(text(runId, "runId"), { reason: text(reason, "reason"), actor }),
    releaseRun: (env, { runId, reason }) =>
      clientIn(env).runs.release(text(runId, "runId"), { reason: text(reason, "reason", ""), actor }),
    bulk: (env, { id, action, reason, startedAt, selection, before }) => {
      if (!bulkActions.includes(action)) {
        throw errors.OPTION_INVALID({ option: "action", why: `it must be one of ${bulkActions.join(", ")}` });
      }
      const order = { id: text(id, "id"), action, reason: text(reason, "reason"), actor };
      return clientIn(env)[inside].bulkPart(
        { ...order, startedAt: instant(startedAt, "startedAt") },
        { ...selection, until: instant(selection.until, "until") },
        before === null ? null : text(before, "before"),
      );
    },
    release: async (env, { scope, key, reason }) => ({
      answer: await store.release({
        env,
        scope: text(scope, "scope"),
        key: text(key, "key"),
        fence: null,
        reason: text(reason, "reason"),
        actor,
      }),
    }),
    resolveEffect: async (env, { id, receipt, reason }) => {
      const verdict = receipt === null ? "retry" : { receipt: text(receipt, "receipt") };
      const said = text(reason, "reason", "");
      const resolved = await clientIn(env).effects.resolve(text(id, "id"), verdict, { reason: said });
      await store.audit({ env, action: "resolve-effect", subject: id, reason: said, actor });
      return resolved;
    },
    pause: (env, { function: fn, reason }) =>
      clientIn(env).functions.pause(text(fn, "function"), { reason: text(reason, "reason", ""), actor }),
    limit: (env, { function: fn, concurrency, which, reason, for: length }) =>
      clientIn(env).functions.limit(text(fn, "function"), {
        concurrency,
        reason: text(reason, "reason", ""),
        actor,
        ...(length === undefined ? {} : { for: text(length, "for") }),
        ...(which === undefined ? {} : { which }),
      }),
    resume: (env, { function: fn, reason, waiting, next }) =>
      clientIn(env)[inside].resumePart(text(fn, "function"), {
        reason: text(reason, "reason", ""),
        actor,
        waiting,
        next: next === null ? null : instant(next, "next"),
      }),
    decide: (env, { event, verdict, reason, function: fn }) => {
      const { events } = clientIn(env);
      const options = {
        reason: text(reason, "reason", ""),
        actor,
        ...(fn === undefined ? {} : { function: text(fn, "function") }),
      };
      switch (verdict) {
        case "release":
          return events.release(text(event, "event"), options);
        case "drop":
          return events.drop(text(event, "event"), options);
        default:
          throw errors.OPTION_INVALID({ option: "verdict", why: "it must be release or drop" });
      }
    },
    set: (env, { kind, name, value, over, reason }) =>
      store.set({
        env,
        kind: text(kind, "kind"),
        name: text(name, "name"),
        value: value === null ? null : text(value, "value"),
        over: over === null ? null : instant(over, "over"),
        reason: text(reason, "reason"),
        actor,
      }),
    reseal: () => resealSettings(store, actor),
    judge: (env, { id, verdict, until, note }) => {
      if (!alertVerdicts.includes(verdict)) {
        throw errors.OPTION_INVALID({ option: "verdict", why: `it must be one of ${alertVerdicts.join(", ")}` });
      }
      return store.judge({
        env,
        id: text(id, "id"),
        verdict,
        until: until === null ? null : instant(until, "until"),
        by: actor,
        note: text(note, "note"),
      });
    },
    prune: async (env, { before, after, auditBefore }) => {
      const input = {
        env,
        before: instant(before, "before"),
        after: text(after, "after", ""),
        max: limits.pruneRowsMax,
        ...(auditBefore === undefined ? {} : { auditBefore: instant(auditBefore, "auditBefore") }),
      };
      // Kept before anything goes, once for all pages.
      if (after === "") await store.audit({ ...pruneEntry(env, before), actor });
      return store.prune(input);
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

/** A value from a socket may be anything, whatever its type says. */
function text(value: unknown, option: string, empty?: ""): string {
  if (typeof value === "string" && (value !== "" || empty === "")) return value;
  throw errors.OPTION_INVALID({ option, why: "it must be a text that is not empty" });
}

function instant(value: unknown, option: string): number {
  if (Number.isSafeInteger(value)) return value as number;
  throw errors.OPTION_INVALID({ option, why: "it must be an instant in whole milliseconds" });
}
