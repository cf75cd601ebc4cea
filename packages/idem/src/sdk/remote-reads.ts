// idem.runs, idem.events, idem.functions and idem.explain of a client whose store is at a server, over the server's /api. Lists there come
// without payloads, and large payloads have an address of their own; what is asked for here is whole, so they are fetched.
import { errors } from "../model/errors.ts";
import { isEnded } from "../model/run.ts";
import type { SerializedError } from "../model/user-errors.ts";
import type { Platform } from "../platform/platform.ts";
import type { Answer, Asked, Query, RouteName } from "../server/api/api-table.ts";
import { previewChars } from "../store/reads.ts";
import type { StoryAsked } from "../stories/answer-story.ts";
import type { StoryAnswer } from "../stories/story.ts";
import { type EffectsApi, unreachedEffects } from "./effects-api.ts";
import type { EventStory, Explain, KeyStory, RunStory, Tell } from "./explain-api.ts";
import { keyText } from "./find-subject.ts";
import type { FunctionsApi } from "./functions-api.ts";
import type { PublicDecision, PublicEvent, PublicRun } from "./public-types.ts";
import {
  type EventsApi,
  type RunDetail,
  type RunEnd,
  type RunsApi,
  readLimit,
  type WaitForRun,
  waitTimeout,
} from "./reads-api.ts";
import { decideRemotely, remoteFunctions } from "./remote-functions.ts";
import type { RemoteServer } from "./remote-server.ts";
import { type AskedOf, askServer } from "./server-api.ts";

/** A client's reads, from its own store or from a server. */
export interface StoreReads {
  readonly runs: RunsApi;
  readonly events: EventsApi;
  readonly functions: FunctionsApi;
  readonly effects: EffectsApi;
  readonly explain: Explain;
  readonly tell: Tell;
}

/** A function's name in this app, and its name in the environment. */
export interface FunctionNames {
  nameOf(fn: string): string;
  slugOf(name: string): string;
}

type RunItem = Answer<"GET /api/runs">["runs"][number];
type EventItem = Omit<Answer<"GET /api/events">["events"][number], "decisions">;
type EventDetail = Answer<"GET /api/events/:event">["event"];
type DecisionItem = Answer<"GET /api/events/:event">["decisions"][number];
type Payload = EventDetail["data"];

// Larger than any run's detail; the server pages what could be more.
const pageMax = 500;
// Enough to hide the way there and back, few enough to be a polite caller.
const fetchesAtOnce = 8;
// A run's end is looked for soon at first, then once a second.
const firstLookMs = 50;
const lookMsMax = 1_000;

export function remoteReads(
  server: RemoteServer,
  names: FunctionNames,
  platform: Pick<Platform, "timer" | "monoMs">,
): StoreReads {
  const api = new ServerReads(server, names);
  return {
    effects: unreachedEffects,
    runs: {
      get: (id) => api.run(id),
      list: (filter = {}) => api.runs(filter),
      wait: (id, options) => waitForEnd(api, id, options, platform),
      cancel: async (id, options) => {
        const asked = { ...ofRun(id), body: reasonIn(options) };
        const { cancelled } = known(id, await api.ask("POST /api/runs/:run/cancel", asked));
        return { cancelled };
      },
      release: async (id, options) => {
        const asked = { ...ofRun(id), body: reasonIn(options) };
        const { released } = known(id, await api.ask("POST /api/runs/:run/release", asked));
        return { released };
      },
      rerun: async (id, { fromStep, input, data } = {}) => {
        const body = { fromStep, input, data };
        // A second asking would be a second rerun: when the answer is lost, a person has to look.
        return known(id, await api.ask("POST /api/runs/:run/rerun", { ...ofRun(id), body, once: true }));
      },
    },
    events: {
      get: (id, options) => api.event(id, options),
      list: (filter = {}) => api.events(filter),
      release: (id, options) => decideRemotely(server, names, "release", id, options),
      drop: (id, options) => decideRemotely(server, names, "drop", id, options),
    },
    functions: remoteFunctions(server, names),
    explain: ((subject: string | { readonly function: string; readonly key: unknown }) =>
      typeof subject === "object" ? api.keyStory(subject.function, subject.key) : api.story(subject)) as Explain,
    tell: (asked) => api.tell(asked),
  };
}

const ofRun = (id: string) => ({ params: { run: id }, what: `Run ${id}` });

/** Without the actor: the server knows from the request who asks. */
const reasonIn = ({ reason }: { readonly reason?: string } = {}) => ({ reason });

function known<T>(runId: string, answer: T | null): T {
  if (answer === null) throw errors.RUN_UNKNOWN({ runId });
  return answer;
}

async function waitForEnd(
  api: ServerReads,
  id: string,
  options: WaitForRun = {},
  platform: Pick<Platform, "timer" | "monoMs">,
): Promise<RunEnd> {
  const { signal } = options;
  const timeoutMs = waitTimeout(options);
  const overAt = timeoutMs === null ? Number.POSITIVE_INFINITY : platform.monoMs() + timeoutMs;
  for (let lookMs = firstLookMs; ; lookMs = Math.min(lookMs * 1.5, lookMsMax)) {
    signal?.throwIfAborted();
    const end = await api.end(id);
    if (end !== null) return end;
    const leftMs = overAt - platform.monoMs();
    if (leftMs <= 0) throw errors.RUN_WAIT_TIMED_OUT({ runId: id, afterMs: timeoutMs! });
    await new Promise<void>((resolve) => {
      const timer = platform.timer(Math.min(lookMs, leftMs), resolve);
      signal?.addEventListener("abort", () => resolve(timer.cancel()), { once: true });
    });
  }
}

class ServerReads {
  constructor(
    private readonly server: RemoteServer,
    private readonly names: FunctionNames,
  ) {}

  // ------------------------------------------------------------------------------------------------ runs

  async run(id: string): Promise<RunDetail | null> {
    const answer = await this.ask("GET /api/runs/:run", ofRun(id));
    if (answer === null) return null;
    const { output, timeline, preview: _, previewStep: _step, metadata: _said, ...run } = answer.run;
    return {
      ...run,
      events: await inTurns(answer.events, (event) => this.eventOf(event)),
      function: this.names.nameOf(run.function),
      output: await whole(output, () => this.output(id)),
      timeline: await inTurns(timeline, async ({ input: _input, childRunId: _child, ...entry }) => ({
        ...entry,
        output: await whole(entry.output, () => this.stepOutput(id, entry.stepId)),
      })),
    };
  }

  async runs({ function: name, eventId, ...rest }: Parameters<RunsApi["list"]>[0] & object): Promise<PublicRun[]> {
    const fn = name === undefined ? {} : { function: this.names.slugOf(name) };
    const event = eventId === undefined ? {} : { event: eventId };
    const items = await paged({ ...rest, ...fn, ...event }, async (query) => {
      const { runs, next } = (await this.ask("GET /api/runs", { query, what: "The list of runs" }))!;
      return { items: runs, next };
    });
    return inTurns(items, (item) => this.wholeRun(item));
  }

  /** Null while it is open. */
  async end(id: string): Promise<RunEnd | null> {
    const { status, output = null } = known(id, await this.ask("GET /v1/runs/:run", ofRun(id))).data;
    switch (status) {
      case "Completed":
        return { state: "completed", output, error: null };
      case "Failed":
      case "Cancelled":
        return {
          state: status === "Failed" ? "failed" : "cancelled",
          output: null,
          error: output as SerializedError | null,
        };
      default:
        return null;
    }
  }

  private async wholeRun({ preview, previewStep: _, ...run }: RunItem): Promise<PublicRun> {
    const result = isEnded(run.state) ? await this.result(run.id, preview) : null;
    const isCompleted = run.state === "completed";
    return {
      ...run,
      function: this.names.nameOf(run.function),
      output: isCompleted ? result : null,
      error: isCompleted ? null : (result as SerializedError | null),
    };
  }

  private async result(runId: string, preview: string | null): Promise<unknown> {
    // A short result is all there in its preview.
    if (preview !== null && preview.length < previewChars) return JSON.parse(preview);
    return this.output(runId);
  }

  private output = (run: string): Promise<unknown> =>
    this.ask("GET /api/runs/:run/output", { params: { run }, what: `The output of run ${run}` });

  private stepOutput = (run: string, step: string): Promise<unknown> =>
    this.ask("GET /api/runs/:run/steps/:step/output", {
      params: { run, step },
      what: `The output of a step of ${run}`,
    });

  // ------------------------------------------------------------------------------------------------ events

  async event(...[id, options]: Parameters<EventsApi["get"]>): ReturnType<EventsApi["get"]> {
    const query = options?.scope === undefined ? {} : { scope: options.scope };
    const answer = await this.ask("GET /api/events/:event", { params: { event: id }, query, what: `Event ${id}` });
    if (answer === null) return null;
    return {
      ...(await this.eventOf(answer.event)),
      decisions: answer.decisions.map((decision) => this.decision(decision)),
    };
  }

  /** One that came with its data, unless that is large. */
  private async eventOf({ data, extra: _, dataBytes: _bytes, ...event }: EventDetail): Promise<PublicEvent> {
    return { ...event, data: await whole(data, () => this.data(event.internalId)) };
  }

  async events(filter: Parameters<EventsApi["list"]>[0] & object): Promise<PublicEvent[]> {
    const items = await paged(filter, async (query) => {
      const { events, next } = (await this.ask("GET /api/events", { query, what: "The list of events" }))!;
      return { items: events, next };
    });
    return inTurns(items, (item) => this.wholeEvent(item));
  }

  private async wholeEvent(item: EventItem): Promise<PublicEvent> {
    const { internalId, id, name, ts, receivedAt, duplicateOf, sourceRunId } = item;
    return { internalId, id, name, data: await this.data(internalId), ts, receivedAt, duplicateOf, sourceRunId };
  }

  private data = (event: string): Promise<unknown> =>
    this.ask("GET /api/events/:event/data", { params: { event }, what: `The data of event ${event}` });

  private decision = (decision: DecisionItem): PublicDecision => ({
    ...decision,
    function: this.names.nameOf(decision.function),
  });

  // ------------------------------------------------------------------------------------------------ stories

  async story(id: string): Promise<EventStory | RunStory> {
    for (const as of ["run", "event"] as const) {
      const told = await this.told({ q: id, as, rows: "true" }, `The story of ${id}`);
      if (told.kind !== "story" || told.rows === null) continue;
      const { story, summary, rows } = told;
      if (rows.kind === "run") {
        return {
          kind: "run",
          story,
          summary,
          line: rows.line,
          cancelOn: rows.cancelOn,
          run: await this.wholeRun(rows.run),
          event: await this.wholeEventOrNull(rows.event),
          events: await inTurns(rows.events, (item) => this.wholeEvent(item)),
          spared: rows.spared.map(this.decision),
        };
      }
      if (rows.kind === "event") {
        return {
          kind: "event",
          story,
          summary,
          event: await this.wholeEvent(rows.event),
          first: await this.wholeEventOrNull(rows.first),
          duplicates: await inTurns(rows.duplicates, (item) => this.wholeEvent(item)),
          decisions: rows.decisions.map(this.decision),
          pending: rows.pending.map((each) => ({ ...each, function: this.names.nameOf(each.function) })),
        };
      }
    }
    throw errors.SUBJECT_UNKNOWN({ id });
  }

  private wholeEventOrNull = async (item: EventItem | null): Promise<PublicEvent | null> =>
    item === null ? null : this.wholeEvent(item);

  async tell({ q, as, function: fn }: StoryAsked): Promise<StoryAnswer> {
    const told = await this.told({ q, as, function: fn }, `The story of ${q}`);
    return told.kind === "story" ? told.story : told;
  }

  async keyStory(name: string, key: unknown): Promise<KeyStory> {
    const q = keyText(key);
    const told = await this.told(
      { q, as: "key", function: this.names.slugOf(name), rows: "true" },
      "The story of a key",
    );
    if (told.kind !== "story" || told.rows?.kind !== "key") throw errors.SUBJECT_UNKNOWN({ id: q });
    const { isTaken, holder, earlier, spared, function: fn, ...rows } = told.rows;
    return {
      ...rows,
      story: told.story,
      summary: told.summary,
      function: this.names.nameOf(fn),
      isOpen: isTaken,
      holder: holder === null ? null : await this.wholeRun(holder),
      earlier: await inTurns(earlier, (item) => this.wholeRun(item)),
      spared: spared.map(this.decision),
    };
  }

  private async told(query: Query<"GET /api/explain">, what: string): Promise<Answer<"GET /api/explain">> {
    return (await this.ask("GET /api/explain", { query, what }))!;
  }

  // ------------------------------------------------------------------------------------------------ asking

  /** Null for what is not there. */
  ask<E extends RouteName>(route: E, asked: Asked<E> & AskedOf): Promise<Answer<E> | null> {
    return askServer(this.server, route, asked);
  }
}

const whole = async (payload: Payload | null, read: () => Promise<unknown>): Promise<unknown> =>
  payload === null ? null : payload.isOmitted ? read() : payload.value;

interface ListAsked {
  readonly before?: string | undefined;
  readonly limit?: number | undefined;
}

/** Pages until there are as many as were asked for. */
async function paged<Filter extends ListAsked, Item>(
  filter: Filter,
  read: (filter: Filter) => Promise<{ readonly items: readonly Item[]; readonly next: string | null }>,
): Promise<Item[]> {
  const limit = readLimit(filter.limit);
  const found: Item[] = [];
  for (let { before } = filter; ; ) {
    const { items, next } = await read({ ...filter, before, limit: Math.min(limit - found.length, pageMax) });
    found.push(...items);
    if (next === null || found.length >= limit) return found;
    before = next;
  }
}

async function inTurns<Item, Made>(items: readonly Item[], make: (item: Item) => Promise<Made>): Promise<Made[]> {
  const made: Made[] = [];
  for (let i = 0; i < items.length; i += fetchesAtOnce) {
    made.push(...(await Promise.all(items.slice(i, i + fetchesAtOnce).map(make))));
  }
  return made;
}
