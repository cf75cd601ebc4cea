// Acts of commands at a server elsewhere: those of the desk (sdk/owner-desk.ts), each by the route that does the same. The others are done beside the store.
import { errors } from "../model/errors.ts";
import type { Ask, DeskAnswers, DeskCommand, DeskRequests } from "../sdk/owner-desk.ts";
import type { Answer } from "../server/api/api-table.ts";
import type { StoreReads } from "../store/reads.ts";
import { failed, usage } from "./exit.ts";
import { appMeant, functionNamesOf } from "./open-reading.ts";
import { openRemoteReading } from "./open-remote-reading.ts";
import type { ServerLine } from "./server-line.ts";
import type { Io } from "./terminal.ts";
import { olderServer } from "./until-ended.ts";

export async function actAtServer<T>(
  io: Pick<Io, "platform">,
  line: ServerLine,
  options: { readonly env: string; readonly app: string | undefined },
  body: (ask: Ask) => Promise<T>,
): Promise<T> {
  const { reads } = openRemoteReading(line).store;
  const { functions } = await reads.functions(options.env);
  const { nameOf } = functionNamesOf(functions, appMeant(functions, options.app));
  const acts: Acts = { ...actsAt(line, reads, nameOf, () => io.platform.wallMs()), ...longActsAt(io, line) };
  return body(async (command, env, request) => {
    const act = acts[command];
    if (act === undefined) throw usage(`"${command}" is done beside the store, with --store.`);
    return act(request, env);
  });
}

type Acts = { readonly [C in DeskCommand]?: (request: DeskRequests[C], env: string) => Promise<DeskAnswers[C]> };

function actsAt(line: ServerLine, reads: StoreReads, nameOf: (fn: string) => string, now: () => number): Acts {
  // A second asking would be a second act: when the answer is lost, a person has to look.
  const once = true;
  const ofRun = (run: string) => ({ params: { run }, what: `Run ${run}` });
  const knownRun = <A>(runId: string, answer: A | null): A => {
    if (answer === null) throw errors.RUN_UNKNOWN({ runId });
    return answer;
  };
  const knownFunction = <A>(fn: string, answer: A | null): A => {
    if (answer === null) throw errors.FUNCTION_UNKNOWN({ function: fn });
    return answer;
  };
  const named = <D extends { readonly function: string }>(decision: D): D => ({
    ...decision,
    function: nameOf(decision.function),
  });
  return {
    send: async ({ event, window }) => {
      const asked = { body: { events: [event as { name: string }], window }, what: "The event", once };
      const { ids, decisions, unmatched } = (await line.ask("POST /api/events", asked))!;
      return { ids, decisions: decisions.map(named), ...(unmatched ? { unmatched } : {}) };
    },
    rerun: async ({ runId, fromStep, input, data }) => {
      const body = { fromStep, input, data: data as Record<string, unknown> | undefined };
      return knownRun(runId, await line.ask("POST /api/runs/:run/rerun", { ...ofRun(runId), body, once }));
    },
    cancel: async ({ runId, reason }) => {
      const asked = { ...ofRun(runId), body: { reason } };
      const { cancelled } = knownRun(runId, await line.ask("POST /api/runs/:run/cancel", asked));
      return { cancelled };
    },
    releaseRun: async ({ runId, reason }) => {
      const asked = { ...ofRun(runId), body: orNone(reason) };
      const { released } = knownRun(runId, await line.ask("POST /api/runs/:run/release", asked));
      return { released };
    },
    release: async ({ scope, key, reason }) => {
      const asked = { params: { scope, key }, body: { reason }, what: `Key ${key}` };
      const answer = await line.ask("POST /api/keys/:scope/:key/release", asked);
      return { answer: answer === null ? "unknown" : "released" };
    },
    pause: async ({ function: fn, reason }) => {
      const asked = { params: { function: fn }, body: orNone(reason), what: `Function "${fn}"` };
      const answer = knownFunction(fn, await line.ask("POST /api/functions/:function/pause", asked));
      return { changed: answer.changed, pausedAt: answer.function.pausedAt };
    },
    limit: async ({ function: fn, concurrency, for: length = "", which, reason }) => {
      const asked = { params: { function: fn }, what: `Function "${fn}"` };
      const said = { ...(which === undefined ? {} : { which }), reason: reason || "no reason given" };
      const answer =
        concurrency === null
          ? await line.ask("DELETE /api/functions/:function/limit", { ...asked, body: said })
          : await line.ask("PUT /api/functions/:function/limit", {
              ...asked,
              body: { ...said, concurrency, for: length },
            });
      return knownFunction(fn, answer);
    },
    resume: async ({ function: fn, reason, waiting, next }) => {
      const body = { ...orNone(reason), waiting, ...(next === null ? {} : { next }) };
      const asked = { params: { function: fn }, body, what: `Function "${fn}"` };
      const {
        changed,
        decided,
        next: after,
      } = knownFunction(fn, await line.ask("POST /api/functions/:function/resume", asked));
      return { changed, decided, next: after };
    },
    decide: async ({ event, verdict, reason, function: fn }) => {
      const body = { ...orNone(reason), ...(fn === undefined ? {} : { function: fn }) };
      const route = verdict === "release" ? "POST /api/events/:event/release" : "POST /api/events/:event/drop";
      const answer = await line.ask(route, { params: { event }, body, what: `Event ${event}`, once });
      if (answer === null) throw errors.SUBJECT_UNKNOWN({ id: event });
      return named(answer.decision);
    },
    judge: async ({ id, verdict, until, note }, env) => {
      const asked = { params: { alert: id }, what: `Alert ${id}` };
      const answer =
        verdict === "mute"
          ? await line.ask("POST /api/radar/alerts/:alert/mute", {
              ...asked,
              body: { reason: note, ...(until === null ? {} : { for: `${until - now()}ms` }) },
            })
          : verdict === "close"
            ? await line.ask("POST /api/radar/alerts/:alert/close", { ...asked, body: { reason: note } })
            : await line.ask("POST /api/radar/alerts/:alert/acknowledge", { ...asked, body: { reason: note } });
      const alert = answer === null ? null : await reads.alert(env, id);
      return alert === null ? { kind: "unknown" } : { kind: "judged", alert };
    },
  };
}

/** Acts that are asked for until they are over. */
function longActsAt({ platform }: Pick<Io, "platform">, line: ServerLine): Acts {
  return {
    resolveEffect: async ({ id, receipt, reason }) => {
      const body = { ...(receipt === null ? { retry: true as const } : { receipt }), ...orNone(reason) };
      const asked = { params: { effect: id }, body, what: `Effect ${id}`, once: true };
      return (await line.ask("POST /api/effects/:effect/resolve", asked)) as DeskAnswers["resolveEffect"];
    },
    prune: async ({ before, after, auditBefore }) => {
      const body = { before, after, ...(auditBefore === undefined ? {} : { auditBefore }) };
      return known(await line.ask("POST /api/prune", { body, what: "Old history" }), line);
    },
    // All of it is one part: the server does it by itself, and goes on with it when nobody asks any more.
    bulk: async ({ id, action, reason, selection }) => {
      const { if: condition, fn, key, state, since, until } = selection;
      const filter = {
        ...(condition === undefined ? {} : { if: condition }),
        ...(fn === undefined ? {} : { function: fn }),
        ...(key === undefined ? {} : { key }),
        ...(state === undefined ? {} : { state }),
        ...(since === undefined ? {} : { since: String(since) }),
        until: String(until),
      };
      const what = `Bulk work ${id}`;
      let { bulk } = known(await line.ask("POST /api/bulk", { body: { id, action, reason, filter }, what }), line) as {
        readonly bulk: Answer<"GET /api/bulk/:bulk">["bulk"];
      };
      for (let pauseMs = bulkPause.firstMs; isUnderWay(bulk.state); pauseMs = Math.min(pauseMs * 2, bulkPause.lastMs)) {
        await new Promise<void>((resolve) => platform.timer(pauseMs, resolve));
        ({ bulk } = known(await line.ask("GET /api/bulk/:bulk", { params: { bulk: id }, what }), line));
      }
      if (bulk.state === "failed")
        throw failed(
          `${what} did not get to its end: ${bulk.error ?? "unknown"}. The server's page of runs goes on with it.`,
        );
      if (bulk.state === "cancelled")
        throw failed(`${what} was stopped by somebody else after ${bulk.doneCount} runs; what is done stays done.`);
      const { matchedCount, doneCount, leftOut, failures } = bulk;
      return { matchedCount, doneCount, leftOut, failures, oldestAt: null, next: null };
    },
  };
}

const bulkPause = { firstMs: 50, lastMs: 2_000 };
const isUnderWay = (state: string): boolean => state === "running" || state === "interrupted";

/** A route that is not there: the server is older. */
function known<A>(answer: A | null, line: ServerLine): A {
  if (answer === null) throw olderServer(line);
  return answer;
}

const orNone = (reason: string) => (reason === "" ? {} : { reason });
