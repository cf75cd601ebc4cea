// Destinations that are reached over HTTP, played in memory: collections of things, and a memory of keys. Pure but for what it keeps; the world
// it belongs to says what time it is.
import { awsOperation, grantedToken, isAwsRead, providerFields } from "./provider-answers.ts";
import type { Json, Thing } from "./thing.ts";

export interface ModelRequest {
  readonly method: string;
  readonly url: URL;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ModelAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** The key was known: nothing happened, the first answer was given again. */
  readonly isRepeat: boolean;
  /** The key had been known, for longer than it is remembered. */
  readonly isForgotten: boolean;
  /** Its body is made up: it echoes what was sent, with an id and times. */
  readonly isMadeUp: boolean;
}

/** A known host: where its key goes and for how long it is remembered. */
export interface KnownHost {
  readonly name: string;
  readonly place: { readonly kind: "header" | "field"; readonly name: string } | null;
  readonly remembersMs: number | null;
  readonly mismatch: "refused" | "first-answer" | "unknown";
}

/** A user's own answer; what it leaves out is made up. */
export interface GivenAnswer {
  readonly status?: number;
  readonly body?: Json;
}

export interface ModelOptions {
  readonly now: () => number;
  readonly hostOf: (host: string) => KnownHost | null;
  readonly assume: (what: string) => void;
  /** Fixtures and recordings; null where there is none. */
  readonly given: (request: ModelRequest) => GivenAnswer | null;
}

/** The caller that makes a thing. */
export interface Maker {
  readonly fn: string | null;
  readonly effect: number;
}

/** A request to write, and its maker. */
interface Writing {
  readonly host: string;
  readonly path: readonly string[];
  readonly body: Json;
  readonly maker: Maker;
  readonly given: GivenAnswer | null;
}

interface Kept {
  state: Json;
  readonly path: readonly string[];
  readonly host: string;
  readonly isAddressed: boolean;
  readonly id: string | null;
  made: readonly string[];
  version: number;
  by: string | null;
  effect: number;
  isDeleted: boolean;
}

const unknownRemembersMs = 24 * 60 * 60 * 1_000;
const readMethods = new Set(["GET", "HEAD", "OPTIONS"]);

const isTokenRequest = (url: URL, body: string): boolean =>
  /\/(oauth2?\/)?token$/.test(url.pathname) && /grant_type/.test(body);

/** Whether the request only asks: by its method, or by what is known of such bodies. */
export function isRead({ method, url, headers, body }: ModelRequest): boolean {
  if (readMethods.has(method)) return true;
  if (method !== "POST") return false;
  const operation = awsOperation(headers);
  if (operation !== null) return isAwsRead(operation);
  // A token is good for any number of calls, and asking for two leaves nothing behind that anybody counts.
  if (isTokenRequest(url, body)) return true;
  return /\/graphql$/.test(url.pathname) && /"query"\s*:\s*"\s*(query\b|\{)/.test(body);
}

/** The idempotency key a request carries, and the memory it is believed to have. */
export function keyOf(
  request: ModelRequest,
  body: Json,
  host: KnownHost | null,
): { readonly key: string | null; readonly remembersMs: number; readonly isAssumed: boolean } {
  if (host !== null && host.place === null) return { key: null, remembersMs: 0, isAssumed: false };
  if (host?.place?.kind === "field") {
    const value = fieldOf(body, host.place.name);
    return { key: value, remembersMs: host.remembersMs ?? unknownRemembersMs, isAssumed: host.remembersMs === null };
  }
  const name = host?.place?.name.toLowerCase() ?? "idempotency-key";
  const key = request.headers[name] ?? (host === null ? request.headers["x-idempotency-key"] : undefined) ?? null;
  return {
    key: key === "" ? null : key,
    remembersMs: host?.remembersMs ?? unknownRemembersMs,
    isAssumed: host === null || host.remembersMs === null,
  };
}

/** The request with this key, where its destination takes one. */
export function withKey(request: ModelRequest, key: string, host: KnownHost | null): ModelRequest {
  if (host !== null && host.place === null) return request;
  if (host?.place?.kind !== "field") {
    const name = host?.place?.name.toLowerCase() ?? "idempotency-key";
    return { ...request, headers: { ...request.headers, [name]: key } };
  }
  const body = readBody(request.body, request.headers["content-type"] ?? "");
  if (!isRecord(body)) return request;
  return { ...request, body: JSON.stringify({ ...body, [host.place.name]: key }) };
}

/** At any depth: some take it beside the headers of a mail. */
function fieldOf(body: Json, name: string): string | null {
  if (Array.isArray(body)) return body.map((each) => fieldOf(each, name)).find((found) => found !== null) ?? null;
  if (typeof body !== "object" || body === null) return null;
  const own = (body as Record<string, Json>)[name];
  if (typeof own === "string") return own;
  return (
    Object.values(body)
      .map((each) => fieldOf(each as Json, name))
      .find((found) => found !== null) ?? null
  );
}

/** JSON, a form (also Stripe's `a[b]`), or text. */
export function readBody(body: string, type: string): Json {
  if (body === "") return null;
  if (/x-www-form-urlencoded/.test(type)) {
    return Object.fromEntries([...new URLSearchParams(body)].map(([name, value]) => [name, value]));
  }
  try {
    return JSON.parse(body) as Json;
  } catch {
    return body;
  }
}

const isRecord = (value: Json): value is { readonly [name: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const segmentsOf = (url: URL): string[] => url.pathname.split("/").filter((each) => each !== "");

/** The target of a request: its path, and the operation where that stands in a header. */
export function pathOf({ url, headers }: Pick<ModelRequest, "url" | "headers">): string[] {
  const operation = awsOperation(headers);
  return operation === null ? segmentsOf(url) : [...segmentsOf(url), operation];
}

export class DestinationModel {
  private readonly kept: Kept[] = [];
  private readonly keys = new Map<
    string,
    { readonly at: number; readonly print: string; readonly answer: ModelAnswer }
  >();
  private readonly counts = new Map<string, number>();
  readonly madeIds: string[] = [];

  constructor(private readonly options: ModelOptions) {}

  things(): Thing[] {
    return this.kept.map(({ host, path, isAddressed, state, by, effect, made, isDeleted }) => ({
      watcher: "http",
      destination: host,
      path,
      isAddressed,
      state: isDeleted ? "‹deleted›" : state,
      by,
      effect,
      made,
    }));
  }

  /** Carries it out. */
  ask(request: ModelRequest, maker: Maker): ModelAnswer {
    const body = readBody(request.body, request.headers["content-type"] ?? "");
    const given = this.options.given(request);
    if (isRead(request))
      return given === null ? madeUp(this.find(request, body)) : answer(given.status ?? 200, given.body ?? null);
    const known = this.options.hostOf(request.url.hostname);
    const { key, remembersMs, isAssumed } = keyOf(request, body, known);
    if (key === null) return this.write(request, body, maker, given);
    const { host } = request.url;
    if (isAssumed) this.options.assume(`${host} remembers an idempotency key for 24 hours`);
    const name = `${host} ${key}`;
    const now = this.options.now();
    const first = this.keys.get(name);
    const print = `${request.method} ${request.url.pathname} ${request.body}`;
    if (first !== undefined && now - first.at < remembersMs) {
      if (first.print !== print && known?.mismatch === "refused") {
        return answer(409, { error: { type: "idempotency_error", message: "this key was used for another request" } });
      }
      return { ...first.answer, isRepeat: true };
    }
    const done = this.write(request, body, maker, given);
    if (done.status < 500) this.keys.set(name, { at: now, print, answer: done });
    return { ...done, isForgotten: first !== undefined };
  }

  private write(request: ModelRequest, body: Json, maker: Maker, given: GivenAnswer | null): ModelAnswer {
    const { method, url, headers } = request;
    const path = pathOf(request);
    const existing = this.kept.find((each) => each.host === url.host && addressOf(each) === path.join("/"));
    const precondition = refuses(headers, existing);
    if (precondition) return answer(412, { error: "precondition failed" });
    const writing = { host: url.host, path, body, maker, given };
    switch (method) {
      case "PUT":
        return this.set(existing, writing, "replace");
      case "PATCH":
        return this.set(existing, writing, "merge");
      case "DELETE": {
        const gone = existing ?? this.keep({ host: url.host, path, isAddressed: true, id: null, state: null }, maker);
        if (gone.isDeleted) return answer(404, { error: "not found" });
        Object.assign(gone, { isDeleted: true, by: maker.fn, effect: maker.effect });
        return answer(given?.status ?? 200, given?.body ?? { deleted: true });
      }
      default:
        // Stripe's way to change a thing.
        if (existing !== undefined) return this.set(existing, writing, "merge");
        return this.make(writing, awsOperation(headers));
    }
  }

  private make({ host, path, body, maker, given }: Writing, operation: string | null): ModelAnswer {
    const collection = path.at(-1) ?? "thing";
    const count = (this.counts.get(`${host} ${collection}`) ?? 0) + 1;
    this.counts.set(`${host} ${collection}`, count);
    const ownId =
      isRecord(body) && (typeof body.id === "string" || typeof body.id === "number") ? String(body.id) : null;
    const givenId = isRecord(given?.body ?? null) ? (given!.body as { id?: Json }).id : undefined;
    const made =
      typeof givenId === "string" ? (count === 1 ? givenId : `${givenId}_${count}`) : `${collection}_made_${count}`;
    const id = ownId ?? made;
    if (ownId === null) this.madeIds.push(id);
    const kept = this.keep({ host, path, isAddressed: false, id, state: body ?? {} }, maker);
    const times = { created: Math.floor(this.options.now() / 1_000) };
    const known = providerFields(operation, path.join("/"), body, id);
    const echoed = { ...times, ...(isRecord(body) ? body : {}), ...known };
    const told = isRecord(given?.body ?? null) ? { ...echoed, ...(given!.body as object) } : echoed;
    const said = answer(given?.status ?? 200, { ...told, id } as Json, { etag: etagOf(kept) });
    return given?.body === undefined ? madeUp(said) : said;
  }

  private set(existing: Kept | undefined, writing: Writing, how: "replace" | "merge"): ModelAnswer {
    const { host, path, body, maker, given } = writing;
    const kept = existing ?? this.keep({ host, path, isAddressed: true, id: null, state: null }, maker);
    const merges = how === "merge" && isRecord(kept.state) && isRecord(body);
    const state = merges ? { ...(kept.state as object), ...(body as object) } : body;
    Object.assign(kept, { state, isDeleted: false, version: kept.version + 1, by: maker.fn, effect: maker.effect });
    const echoed = isRecord(kept.state) ? kept.state : {};
    const told = isRecord(given?.body ?? null) ? (given!.body as object) : {};
    const said = answer(given?.status ?? 200, { id: kept.id ?? path.at(-1) ?? "", ...echoed, ...told } as Json, {
      etag: etagOf(kept),
    });
    return given?.body === undefined ? madeUp(said) : said;
  }

  private keep(thing: Pick<Kept, "host" | "path" | "isAddressed" | "id" | "state">, { fn: by, effect }: Maker): Kept {
    const kept: Kept = { ...thing, made: [], version: 0, by, effect, isDeleted: false };
    this.kept.push(kept);
    return kept;
  }

  /** Finds a made thing by its path, or in its collection by fields of the query. */
  private find({ url, method, body: text }: ModelRequest, body: Json): ModelAnswer {
    if (method === "POST" && isTokenRequest(url, text)) return answer(200, grantedToken);
    const path = segmentsOf(url).join("/");
    const here = this.kept.filter(({ host }) => host === url.host);
    const one = here.find((each) => addressOf(each) === path);
    if (one !== undefined) {
      if (one.isDeleted) return answer(404, { error: "not found" });
      const told = isRecord(one.state) ? one.state : { value: one.state };
      return answer(200, { id: one.id ?? segmentsOf(url).at(-1) ?? "", ...told } as Json, { etag: etagOf(one) });
    }
    const inside = here.filter((each) => !each.isDeleted && each.path.join("/") === path);
    const isList = url.search !== "" || inside.length > 0;
    if (!isList || method === "POST") {
      // Its content is unknown: it is there, under the id that was asked for.
      return answer(200, { id: segmentsOf(url).at(-1) ?? "", ...(isRecord(body) ? body : {}) } as Json, {
        etag: '"0"',
      });
    }
    const wanted = [...url.searchParams].filter(([name]) =>
      inside.some(({ state }) => isRecord(state) && name in state),
    );
    const found = inside
      .filter(({ state }) => wanted.every(([name, value]) => isRecord(state) && String(state[name]) === value))
      .map(({ id, state }) => ({ id, ...(isRecord(state) ? state : { value: state }) }) as Json);
    return answer(
      200,
      /(^|\.)stripe\.com$/.test(url.hostname) ? { object: "list", data: found, has_more: false } : found,
    );
  }
}

const addressOf = ({ path, isAddressed, id }: Kept): string => (isAddressed ? path : [...path, id ?? ""]).join("/");
const etagOf = ({ version }: Kept): string => `"${version}"`;

function refuses(headers: Readonly<Record<string, string>>, existing: Kept | undefined): boolean {
  const isThere = existing !== undefined && !existing.isDeleted;
  if (headers["if-none-match"] === "*") return isThere;
  const match = headers["if-match"];
  if (match === undefined) return false;
  if (match === "*") return !isThere;
  return match !== (isThere ? etagOf(existing) : '"0"');
}

const answer = (status: number, body: Json, headers: Readonly<Record<string, string>> = {}): ModelAnswer => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
  isRepeat: false,
  isForgotten: false,
  isMadeUp: false,
});

/** Marks an answer as made up; a refusal is the model's own. */
const madeUp = (said: ModelAnswer): ModelAnswer =>
  said.status < 400
    ? { ...said, body: JSON.stringify(withNested(JSON.parse(said.body) as Json)), isMadeUp: true }
    : said;

const bracketed = /^([^[\]]+)((?:\[[^[\]]*\])+)$/;

/** A form's `metadata[order]=7` as the record it means. */
export function withNested(value: Json): Json {
  if (Array.isArray(value)) return value.map(withNested);
  if (!isRecord(value)) return value;
  return Object.entries(value).reduce<Json>((told, [name, each]) => {
    const found = bracketed.exec(name);
    const path = found === null ? [name] : [found[1]!, ...found[2]!.slice(1, -1).split("][")];
    return placed(told, path, withNested(each));
  }, {});
}

function placed(holder: Json, [name, ...rest]: readonly string[], value: Json): Json {
  if (name === undefined) return value;
  if (/^\d*$/.test(name) && (holder === null || Array.isArray(holder))) {
    const list = [...((holder ?? []) as readonly Json[])];
    const at = name === "" ? list.length : Math.min(Number(name), list.length);
    list[at] = placed(list[at] ?? null, rest, value);
    return list;
  }
  const record = isRecord(holder) ? holder : {};
  return { ...record, [name]: placed(record[name] ?? null, rest, value) };
}
