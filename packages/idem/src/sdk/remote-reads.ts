// idem.runs, idem.events, idem.functions and idem.explain of a client whose store is at a server, over the server's /api. Lists there come
// without payloads, and large payloads have an address of their own; what is asked for here is whole, so they are fetched.
import { errors } from "../model/errors.ts";
import { isEnded } from "../model/run.ts";
import type { SerializedError } from "../model/user-errors.ts";
import type { Platform } from "../platform/platform.ts";
import { previewChars } from "../store/reads.ts";
import type { StoryAsked } from "../stories/answer-story.ts";
import type { StoryAnswer } from "../stories/story.ts";
import { type EffectsApi, unreachedEffects } from "./effects-api.ts";
import {
  type EventStory,
  type Explain,
  type KeyStory,
  keyText,
  type PendingStory,
  type RunStory,
  type Tell,
} from "./explain-api.ts";
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
import type { RemoteServer, ServerRequest } from "./remote-server.ts";

/** What a client reads, from its own store or from a server. */
export interface StoreReads {
  readonly runs: RunsApi;
  readonly events: EventsApi;
  readonly functions: FunctionsApi;
  readonly effects: EffectsApi;
  readonly explain: Explain;
  readonly tell: Tell;
}

/** What this app calls a function, and what it is called in its environment. */
export interface FunctionNames {
  nameOf(fn: string): string;
  slugOf(name: string): string;
}

type RunItem = Omit<PublicRun, "output" | "error"> & {
  readonly preview: string | null;
  readonly previewStep: string | null;
};
type EventItem = Omit<PublicEvent, "data">;

interface Payload {
  readonly value: unknown;
  readonly isOmitted: boolean;
}

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
        const body = options?.reason === undefined ? {} : { reason: options.reason };
        const { cancelled } = await api.post<{ cancelled: boolean }>(
          `/api/runs/${encodeURIComponent(id)}/cancel`,
          body,
          id,
        );
        return { cancelled };
      },
      release: async (id, options) => {
        const { released } = await api.post<{ released: boolean }>(
          `/api/runs/${encodeURIComponent(id)}/release`,
          options?.reason === undefined ? {} : { reason: options.reason },
          id,
        );
        return { released };
      },
      // A second asking would be a second rerun: when the answer is lost, somebody has to look.
      rerun: (id, options = {}) => api.post(`/api/runs/${encodeURIComponent(id)}/rerun`, options, id, { once: true }),
    },
    events: {
      get: (id) => api.event(id),
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
    const path = `/api/runs/${encodeURIComponent(id)}`;
    const answer = await this.get<{ run: any; events: any[] }>(path, `Run ${id}`);
    if (answer === null) return null;
    const { output, error, timeline, preview: _, previewStep: _step, ...run } = answer.run;
    return {
      ...(run as RunItem & Pick<RunDetail, "line" | "cancelOn">),
      events: await inTurns(answer.events, (event) => this.eventOf(event)),
      function: this.names.nameOf(run.function),
      output: await this.whole(output, `${path}/output`),
      error,
      timeline: await inTurns(timeline as any[], async ({ input: _input, childRunId: _child, ...entry }) => ({
        ...entry,
        output: await this.whole(entry.output, `${path}/steps/${encodeURIComponent(entry.stepId)}/output`),
      })),
    };
  }

  async runs({ function: name, eventId, ...rest }: Parameters<RunsApi["list"]>[0] & object): Promise<PublicRun[]> {
    const fn = name === undefined ? {} : { function: this.names.slugOf(name) };
    const event = eventId === undefined ? {} : { event: eventId };
    const items = await this.page<RunItem>("runs", { ...rest, ...fn, ...event });
    return inTurns(items, (item) => this.wholeRun(item));
  }

  /** Null while it is open. */
  async end(id: string): Promise<RunEnd | null> {
    const answer = await this.get<{ data: { status: string; output?: unknown } }>(
      `/v1/runs/${encodeURIComponent(id)}`,
      `Run ${id}`,
    );
    if (answer === null) throw errors.RUN_UNKNOWN({ runId: id });
    const state = answer.data.status.toLowerCase();
    if (state !== "completed" && state !== "failed" && state !== "cancelled") return null;
    const output = answer.data.output ?? null;
    if (state === "completed") return { state, output, error: null };
    return { state, output: null, error: output as SerializedError | null };
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
    return this.get(`/api/runs/${encodeURIComponent(runId)}/output`, `The output of run ${runId}`);
  }

  // ------------------------------------------------------------------------------------------------ events

  async event(...[id, options]: Parameters<EventsApi["get"]>): ReturnType<EventsApi["get"]> {
    const query = options?.scope === undefined ? "" : `?scope=${options.scope}`;
    const path = `/api/events/${encodeURIComponent(id)}${query}`;
    const answer = await this.get<{ event: any; decisions: PublicDecision[] }>(path, `Event ${id}`);
    if (answer === null) return null;
    return {
      ...(await this.eventOf(answer.event)),
      decisions: answer.decisions.map((decision) => this.decision(decision)),
    };
  }

  /** One that came with its data, unless that is large. */
  private async eventOf({ data, extra: _, dataBytes: _bytes, ...event }: any): Promise<PublicEvent> {
    const path = `/api/events/${encodeURIComponent(event.internalId)}/data`;
    return { ...(event as EventItem), data: await this.whole(data, path) };
  }

  async events(filter: Parameters<EventsApi["list"]>[0] & object): Promise<PublicEvent[]> {
    return inTurns(await this.page<EventItem>("events", filter), (item) => this.wholeEvent(item));
  }

  private async wholeEvent(item: EventItem): Promise<PublicEvent> {
    const { internalId, id, name, ts, receivedAt, duplicateOf, sourceRunId } = item;
    const data = await this.get(
      `/api/events/${encodeURIComponent(internalId)}/data`,
      `The data of event ${internalId}`,
    );
    return { internalId, id, name, data, ts, receivedAt, duplicateOf, sourceRunId };
  }

  private decision = (decision: PublicDecision): PublicDecision => ({
    ...decision,
    function: this.names.nameOf(decision.function),
  });

  // ------------------------------------------------------------------------------------------------ stories

  async story(id: string): Promise<EventStory | RunStory> {
    const told = await this.get<any>(`/api/explain?id=${encodeURIComponent(id)}`, `The story of ${id}`);
    if (told === null) throw errors.SUBJECT_UNKNOWN({ id });
    const event = (item: EventItem | null) => (item === null ? null : this.wholeEvent(item));
    if (told.kind === "run") {
      return {
        ...told,
        run: await this.wholeRun(told.run),
        event: await event(told.event),
        events: await inTurns(told.events as EventItem[], (item) => this.wholeEvent(item)),
        spared: told.spared.map(this.decision),
      };
    }
    return {
      ...told,
      event: await event(told.event),
      first: await event(told.first),
      duplicates: await inTurns(told.duplicates as EventItem[], (item) => this.wholeEvent(item)),
      decisions: told.decisions.map(this.decision),
      pending: (told.pending as PendingStory[]).map((each) => ({
        ...each,
        function: this.names.nameOf(each.function),
      })),
    };
  }

  async tell({ q, as, function: fn }: StoryAsked): Promise<StoryAnswer> {
    const query = new URLSearchParams({
      q,
      ...(as === undefined ? {} : { as }),
      ...(fn === undefined ? {} : { function: fn }),
    });
    return (await this.get<StoryAnswer>(`/api/stories?${query}`, `The story of ${q}`))!;
  }

  async keyStory(name: string, key: unknown): Promise<KeyStory> {
    const fn = this.names.slugOf(name);
    const query = new URLSearchParams({ function: fn, key: keyText(key) });
    const { isTaken, holder, earlier, ...told } = (await this.get<any>(`/api/explain?${query}`, `The story of a key`))!;
    return {
      ...told,
      function: this.names.nameOf(told.function),
      isOpen: isTaken,
      holder: holder === null ? null : await this.wholeRun(holder),
      earlier: await inTurns(earlier as RunItem[], (item) => this.wholeRun(item)),
      spared: told.spared.map(this.decision),
    };
  }

  // ------------------------------------------------------------------------------------------------ asking

  /** Null for what is not there. */
  async get<T>(path: string, what: string): Promise<T | null> {
    const request: ServerRequest = { method: "GET", path, what };
    const answer = await this.server.ask(request);
    return answer.status === 404 ? null : (this.server.readJson(answer, what) as T);
  }

  async post<T>(path: string, body: object, runId: string, { once = false } = {}): Promise<T> {
    const what = `Run ${runId}`;
    const answer = await this.server.ask({ method: "POST", path, body: JSON.stringify(body), what, once });
    if (answer.status === 404) throw errors.RUN_UNKNOWN({ runId });
    return this.server.readJson(answer, what) as T;
  }

  private async page<Item>(list: "runs" | "events", filter: Record<string, unknown>): Promise<Item[]> {
    const limit = readLimit(filter.limit as number | undefined);
    const found: Item[] = [];
    for (let before = filter.before as string | null | undefined; ; ) {
      const given = { ...filter, before, limit: Math.min(limit - found.length, pageMax) };
      const told = Object.entries(given).filter(([, value]) => value !== undefined && value !== null);
      const query = new URLSearchParams(told.map(([name, value]): [string, string] => [name, String(value)]));
      const answer = (await this.get<Record<string, any>>(`/api/${list}?${query}`, `The list of ${list}`))!;
      found.push(...(answer[list] as Item[]));
      before = answer.next as string | null;
      if (before === null || found.length >= limit) return found;
    }
  }

  private async whole(payload: Payload | null, path: string): Promise<any> {
    if (payload === null) return null;
    return payload.isOmitted ? this.get(path, "A payload") : payload.value;
  }
}

async function inTurns<Item, Made>(items: readonly Item[], make: (item: Item) => Promise<Made>): Promise<Made[]> {
  const made: Made[] = [];
  for (let i = 0; i < items.length; i += fetchesAtOnce) {
    made.push(...(await Promise.all(items.slice(i, i + fetchesAtOnce).map(make))));
  }
  return made;
}
