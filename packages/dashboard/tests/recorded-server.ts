// A server made of recorded responses. Tests give other responses by the routes' own types; recorded-responses.test.ts holds what is
// recorded to the routes' schemas.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Answer, RouteName } from "../../idem/src/server/api/api-table.ts";
import type { ScenarioIds } from "./scenario.ts";
import type { Story } from "./world.ts";

interface Recorded {
  readonly request: string;
  readonly status: number;
  readonly json?: unknown;
  readonly text?: string;
}

interface RecordHead {
  readonly recordedAt: number;
  readonly origin: string;
  readonly ids: ScenarioIds;
  readonly story: Story;
}

const [head, ...lines] = readFileSync(join(import.meta.dirname, "recorded-responses.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as RecordHead | Recorded) as [RecordHead, ...Recorded[]];

/** When it was recorded, and the names of what is in it. */
export const record: RecordHead = head;
export const recordedResponses: readonly Recorded[] = lines;

export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly body: any;
}

interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly next?: string;
}

interface Reply {
  readonly status: number;
  readonly json?: unknown;
  readonly text?: string;
}

const isOf = (route: RouteName, { method, path }: SentRequest): boolean => {
  const [wanted, pattern] = route.split(" ") as [string, string];
  return method === wanted && new RegExp(`^${pattern.replace(/:\w+/g, "[^/]+")}$`).test(path);
};

/** The first response that is recorded for a route, or the first whose request has `part` in it. */
export function recorded<E extends RouteName>(route: E, part = ""): Answer<E> {
  const found = recordedResponses.find(({ request }) => {
    const [path = ""] = request.split("?");
    return request.includes(part) && isOf(route, { method: "GET", path, query: {}, body: undefined });
  });
  if (found === undefined) throw new Error(`Nothing is recorded for ${route} with "${part}"`);
  return found.json as Answer<E>;
}

export class RecordedServer {
  /** Requests that nothing was recorded for, and what the page logs as an error. */
  readonly troubles: string[] = [];
  private readonly requests: SentRequest[] = [];
  private readonly replies = new Map<RouteName, (request: SentRequest) => Reply | Promise<Reply>>();

  /** `page`: the path of the page that is tested. */
  constructor(private readonly page: string) {}

  /** Responds with a value of the route's type, or with what is made of the request and what is recorded for it. */
  answer<E extends RouteName>(
    route: E,
    value: Answer<E> | ((request: SentRequest, recorded: Answer<E>) => Answer<E>),
  ): this {
    this.replies.set(route, (request) => ({
      status: 200,
      json:
        typeof value === "function"
          ? (value as (request: SentRequest, recorded: unknown) => unknown)(request, recordedFor(request)?.json)
          : value,
    }));
    return this;
  }

  /** Refuses as the real server does, with a problem document. */
  refuse(route: RouteName, { status, ...problem }: Refusal): this {
    this.replies.set(route, () => ({ status, json: problem }));
    return this;
  }

  /** Responds only once the returned function is called, as a server that is busy. */
  hold<E extends RouteName>(route: E, value: Answer<E>): () => void {
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.replies.set(route, () => released.then(() => ({ status: 200, json: value })));
    return release;
  }

  /** Responds as recorded again. */
  restore(route: RouteName): this {
    this.replies.delete(route);
    return this;
  }

  /** What was asked of a route, in order. */
  sent(route: RouteName): readonly SentRequest[] {
    return this.requests.filter((request) => isOf(route, request));
  }

  readonly fetch = async (url: string, init: RequestInit = {}): Promise<Response> => {
    const { pathname, searchParams } = new URL(url, location.href);
    const body: unknown = typeof init.body === "string" ? JSON.parse(init.body) : undefined;
    const query = Object.fromEntries(searchParams);
    const request: SentRequest = { method: init.method ?? "GET", path: pathname, query, body };
    this.requests.push(request);
    const [, reply] = [...this.replies].find(([route]) => isOf(route, request)) ?? [];
    const given = (await reply?.(request)) ?? recordedFor(request);
    const { status, json, text } =
      given === undefined || (given.json === undefined && given.text === undefined) ? this.unknown(request) : given;
    init.signal?.throwIfAborted();
    return new Response(text ?? JSON.stringify(json), { status });
  };

  private unknown({ method, path, query }: SentRequest): Reply {
    // A page that the test only leaves for may ask for what it likes.
    if (location.pathname === this.page)
      this.troubles.push(`nothing is recorded for ${method} ${path}?${new URLSearchParams(query)}`);
    return { status: 404, json: { code: "NOT_RECORDED", detail: "Nothing is recorded for this" } };
  }
}

function recordedFor({ method, path, query }: SentRequest): Recorded | undefined {
  if (method !== "GET") return undefined;
  const given = new URLSearchParams(query);
  given.sort();
  const asked = given.size === 0 ? path : `${path}?${given}`;
  return recordedResponses.find(({ request }) => request === asked);
}
