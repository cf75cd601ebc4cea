// Shared by `verifyEndpoint`, `verifyWebhook` and `verifyTick`: a handler by its module, the project's configuration, the threads, the report.
import { resolve } from "node:path";
import { loadHandlers } from "../cli/load-program.ts";
import { withDatabases } from "../cli/verify-databases.ts";
import { projectPath, readMemoryOf, readRecordingsOf, readSource } from "../cli/verify-inputs.ts";
import { errors } from "../model/errors.ts";
import { nodePlatform } from "../platform/node-platform.ts";
import { environment } from "../platform/node-thread.ts";
import type { CallScript, SentCall } from "../verify/calls/call-script.ts";
import { verifyCalls } from "../verify/calls/verify-calls.ts";
import { findingIds } from "../verify/finding-id.ts";
import { masker } from "../verify/mask-values.ts";
import { type FunctionReport, summarise, type VerifiedFunction } from "../verify/report.ts";
import type { Json } from "../verify/thing.ts";
import { Consent } from "../verify/verify-memory.ts";
import { type HeldReport, heldReport } from "./held-report.ts";
import { configurationOf, explaining, joined, pathOf, schedulesOf, type WorldOptions } from "./verify.ts";
import { withThreads } from "./worlds.ts";

/**
 * Where a handler is: the module that exports it. After a death another process takes over, and loads modules; a function in a test's memory cannot be
 * loaded again.
 */
export interface ExportedHandler {
  /** The file, from `cwd`, or its `file:` address. */
  readonly module: string | URL;
  /** The name it is exported under; `default` if absent. */
  readonly export?: string;
  /** "node" for `(request, response) => …`. An Express application, an object with `fetch` (Hono) and `(Request) => Response` are known by themselves. */
  readonly style?: "fetch" | "node";
}

export interface HandlerToVerify {
  /** The function that was called: "verifyEndpoint". */
  readonly by: string;
  /** For people, and what an accepted entry calls its function: "POST /charges". */
  readonly id: string;
  readonly handler: ExportedHandler;
  readonly isPlain: boolean;
  readonly sender: CallScript["sender"];
  readonly calls: Readonly<Record<string, SentCall>>;
  /** Modules that calls are signed by. */
  readonly modules?: readonly string[];
  readonly startsMs: readonly [number, number];
  readonly everyMs?: number;
  readonly noTwin: string | null;
}

export async function verifyHandler(asked: HandlerToVerify, options: WorldOptions): Promise<HeldReport> {
  const { by, id, handler, sender, calls, startsMs, noTwin, everyMs = 0 } = asked;
  if (typeof handler !== "object" || handler === null || handler.module === undefined) {
    const why = `it is no place: a function in a test's memory could not be loaded again after a death; give { module: "src/….ts", export: "…" }`;
    throw errors.OPTION_INVALID({ option: "handler", why });
  }
  const cwd = resolve(options.cwd ?? ".");
  const only = schedulesOf(options, () => true);
  const { seed = 1 } = options;
  return explaining(`"${id}"`, () =>
    withThreads((threads) =>
      withDatabases({ cwd, server: environment().IDEM_VERIFY_DATABASE }, async (prepare) => {
        const startedAt = nodePlatform.monoMs();
        const module = resolve(cwd, pathOf(handler.module));
        const names = [module, ...(asked.modules ?? []).map((each) => resolve(cwd, each))];
        const program = await loadHandlers(cwd, [...new Set(names)], threads, prepare);
        const configuration = joined(program.configuration, configurationOf(options, null));
        const consent = new Consent([...readMemoryOf(cwd).accepted, ...configuration.accept], nodePlatform.wallMs());
        const style = asked.isPlain ? "plain" : (handler.style ?? null);
        const report = await verifyCalls({
          threads,
          id,
          script: {
            modules: program.modules,
            databases: program.databases,
            handler: { module, name: handler.export ?? "default", style },
            sender,
            calls,
            fixtures: [...configuration.fixtures, ...readRecordingsOf(cwd)],
          },
          startsMs,
          everyMs,
          seed,
          only,
          noTwin,
          accepts: (effect) => consent.accepts(id, effect),
        });
        const tookMs = nodePlatform.monoMs() - startedAt;
        const verified = shown(report, by, cwd, tookMs);
        return heldReport(summarise([verified], { leftOut: [], tookMs, problems: consent.problems(false) }), cwd);
      }),
    ),
  );
}

function shown(report: FunctionReport, by: string, cwd: string, tookMs: number): VerifiedFunction {
  const shorten = (path: string): string => projectPath(cwd, path);
  const { id } = report;
  const ids = findingIds(report.findings, { env: "", fn: id, shorten, readSource, hide: masker({}) });
  const findings = report.findings.map((finding, i) => {
    const { schedule, seed } = finding;
    const repeat = `${by}(…, { …, schedule: ${JSON.stringify(schedule)}, seed: ${seed} })`;
    return { ...finding, id: ids[i]!, isKnown: false, repeat };
  });
  return { ...report, fn: id, place: null, event: null, tookMs, findings };
}

/** A request as a test has it: the real thing, or its parts. */
export type GivenRequest =
  | Request
  | {
      readonly url?: string;
      readonly method?: string;
      readonly headers?: Readonly<Record<string, string>>;
      /** Text as it is; anything else as JSON. */
      readonly body?: unknown;
    };

export interface ReadCall extends Omit<SentCall, "what" | "signing"> {
  /** Its body as data; null where it is no JSON. */
  readonly data: Json;
}

export async function readRequest(given: GivenRequest): Promise<ReadCall> {
  if (given instanceof Request) {
    const text = given.body === null ? null : await given.clone().text();
    return { method: given.method, url: given.url, headers: [...given.headers], body: text, data: dataOf(text) };
  }
  const { url = "https://localhost/", method = "POST", headers = {}, body = null } = given;
  const text = body === null || typeof body === "string" ? body : JSON.stringify(body);
  const all = new Headers(headers);
  if (text !== null && !all.has("content-type")) all.set("content-type", "application/json");
  return { method, url: new URL(url, "https://localhost").href, headers: [...all], body: text, data: dataOf(text) };
}

function dataOf(text: string | null): Json {
  try {
    return text === null ? null : (JSON.parse(text) as Json);
  } catch {
    return null;
  }
}

export const withHeader = ({ headers }: ReadCall, name: string, value: string): SentCall["headers"] => [
  ...headers.filter(([each]) => each.toLowerCase() !== name.toLowerCase()),
  [name, value],
];
