// The server's REST API, as people and tools use it.
import { createHash } from "node:crypto";
import { vi } from "vitest";

export interface RestRun {
  readonly run_id: string;
  readonly function_id: string;
  readonly status: "Scheduled" | "Running" | "Completed" | "Failed" | "Cancelled" | "Skipped";
  readonly output?: any;
}

export interface Entry {
  readonly name: string;
  readonly kind: string;
  readonly state: string;
  readonly error: { readonly name: string; readonly message: string } | null;
  readonly attempts: readonly {
    readonly attempt: number;
    readonly error: { readonly message: string } | null;
    readonly endedAt: number;
    readonly retryAt: number | null;
  }[];
}

/** Bearer of a signing key: the hash of its hexadecimal part, behind its prefix (docs/reference/wire.md#keys). */
function bearerOf(key: string): string {
  const [, prefix = "", hex] = /^(signkey-\w+-)?([0-9a-f]+)$/.exec(key)!;
  return prefix + createHash("sha256").update(Buffer.from(hex!, "hex")).digest("hex");
}

/** What became of an event for a function. */
export interface Decided {
  readonly function: string;
  readonly kind: string;
  readonly reason: string | null;
  readonly runId: string | null;
}

// A run that is not over by then will not be.
const patienceMs = 110_000;

export class Rest {
  constructor(
    private readonly origin: string,
    private readonly eventKey: string,
    /** Null where nobody asks for one. */
    private readonly signingKey: string | null,
  ) {}

  async ask(path: string, init: RequestInit = {}): Promise<{ status: number; json: any }> {
    const authorization: Record<string, string> =
      this.signingKey === null ? {} : { authorization: `Bearer ${bearerOf(this.signingKey)}` };
    const answer = await fetch(`${this.origin}${path}`, {
      ...init,
      headers: { "content-type": "application/json", ...authorization, ...(init.headers as Record<string, string>) },
    });
    const text = await answer.text();
    return { status: answer.status, json: text === "" ? null : JSON.parse(text) };
  }

  async get(path: string): Promise<any> {
    const { status, json } = await this.ask(path);
    if (status !== 200) throw new Error(`GET ${path} was answered ${status}: ${JSON.stringify(json)}`);
    return json;
  }

  /** Reads again and again until it is so. */
  async until<T>(
    path: string,
    isSo: (json: any) => T | false | null | undefined,
    withinMs: number = patienceMs,
  ): Promise<T> {
    const look = async (): Promise<{ readonly found: T } | { readonly error: unknown }> => {
      const read = await this.get(path).then(
        (json) => ({ json }),
        (error: unknown) => ({ error }),
      );
      // A refusal is final.
      if ("error" in read) return read;
      const found = isSo(read.json);
      if (!found) throw new Error(`GET ${path} still says ${JSON.stringify(read.json).slice(0, 2_000)}`);
      return { found };
    };
    const seen = await vi.waitFor(look, { timeout: withinMs, interval: 100 });
    if ("error" in seen) throw seen.error;
    return seen.found;
  }

  // ------------------------------------------------------------------------------------------------ events and runs

  async post(events: unknown, headers: Readonly<Record<string, string>> = {}, key = this.eventKey) {
    return this.ask(`/e/${key}`, { method: "POST", body: JSON.stringify(events), headers });
  }

  /** One event; the id of the run of `fn` that it started. */
  async start(name: string, data: object = {}): Promise<string> {
    const { status, json } = await this.post([{ name, data }]);
    if (status !== 200) throw new Error(`The event was answered ${status}: ${JSON.stringify(json)}`);
    return this.runOf(json.ids[0], name.replace("/", "-"));
  }

  runOf(eventId: string, fn: string): Promise<string> {
    return this.until(`/v1/events/${eventId}/runs`, ({ data }: { data: RestRun[] }) => {
      return data.find(({ function_id }) => function_id === fn)?.run_id;
    });
  }

  /** One request; the ids of its events. */
  async send(name: string, data: readonly object[]): Promise<readonly string[]> {
    const { status, json } = await this.post(data.map((each) => ({ name, data: each })));
    if (status !== 200) throw new Error(`The events were answered ${status}: ${JSON.stringify(json)}`);
    return json.ids;
  }

  /** Once the function's decision on the event is of this kind. */
  decided(eventId: string, fn: string, kind: string): Promise<Decided> {
    return this.until(`/api/events/${eventId}`, ({ decisions }: { decisions: Decided[] }) =>
      decisions.find((each) => each.function === fn && each.kind === kind),
    );
  }

  run(runId: string): Promise<RestRun> {
    return this.get(`/v1/runs/${runId}`).then(({ data }) => data);
  }

  end(runId: string, withinMs: number = patienceMs): Promise<RestRun> {
    const ended = ["Completed", "Failed", "Cancelled"];
    const isSo = ({ data }: { data: RestRun }) => ended.includes(data.status) && data;
    return this.until(`/v1/runs/${runId}`, isSo, withinMs);
  }

  async timeline(runId: string): Promise<readonly Entry[]> {
    return (await this.get(`/api/runs/${runId}`)).run.timeline;
  }

  runsOfFunction(fn: string): Promise<readonly { readonly id: string; readonly state: string }[]> {
    return this.get(`/api/runs?function=${fn}`).then(({ runs }) => runs);
  }
}
