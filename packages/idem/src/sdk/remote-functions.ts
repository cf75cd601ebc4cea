// idem.functions, and releasing and dropping events, of a client whose store is at a server. What the server refuses is said with the
// errors that a client with a store of its own gives.
import type { Verdict } from "../engine/redecide-events.ts";
import type { ResumedPart } from "../engine/resume-function.ts";
import { errors } from "../model/errors.ts";
import type { HttpResponse } from "../platform/platform.ts";
import { type FunctionsApi, inParts } from "./functions-api.ts";
import type { PublicDecision } from "./public-types.ts";
import type { VerdictOptions } from "./reads-api.ts";
import type { FunctionNames } from "./remote-reads.ts";
import type { RemoteServer } from "./remote-server.ts";
import { answerTo, askServer, requestTo } from "./server-api.ts";

export function remoteFunctions(server: RemoteServer, names: FunctionNames): FunctionsApi {
  const known = <T>(fn: string, answer: T | null): T => {
    if (answer === null) throw errors.FUNCTION_UNKNOWN({ function: fn });
    return answer;
  };
  return {
    async list() {
      const { functions } = (await askServer(server, "GET /api/functions", { what: "The list of functions" }))!;
      return functions.map((item) => ({
        id: names.nameOf(item.function),
        slug: item.function,
        app: item.app,
        name: item.name,
        triggers: item.triggers,
        flow: item.flow,
        pausedAt: item.pausedAt,
        open: item.open,
        pending: item.pending,
      }));
    },
    async pause(id, { reason } = {}) {
      const fn = names.slugOf(id);
      const asked = { params: { function: fn }, body: { reason }, what: `Function "${id}"` };
      const { changed, function: item } = known(
        fn,
        await askServer(server, "POST /api/functions/:function/pause", asked),
      );
      return { changed, pausedAt: item.pausedAt };
    },
    async limit(id, { concurrency, which, reason = "", for: length }) {
      const fn = names.slugOf(id);
      const params = { function: fn };
      const what = `Function "${id}"`;
      const said = { ...(which === undefined ? {} : { which }), reason: reason || "no reason given" };
      const asked =
        concurrency === null
          ? askServer(server, "DELETE /api/functions/:function/limit", { params, body: said, what })
          : askServer(server, "PUT /api/functions/:function/limit", {
              params,
              body: { ...said, concurrency, for: lengthText(length) },
              what,
            });
      return known(fn, await asked);
    },
    resume: (id, { reason, waiting } = {}) =>
      inParts(async (next): Promise<ResumedPart> => {
        const fn = names.slugOf(id);
        const body = { reason, waiting, ...(next === null ? {} : { next }) };
        const asked = { params: { function: fn }, body, what: `Function "${id}"` };
        return known(fn, await askServer(server, "POST /api/functions/:function/resume", asked));
      }),
  };
}

const lengthText = (length: string | number | undefined): string =>
  typeof length === "number" ? `${length}ms` : (length ?? "");

export async function decideRemotely(
  server: RemoteServer,
  names: FunctionNames,
  verdict: Verdict,
  id: string,
  { function: name, reason }: VerdictOptions = {},
): Promise<PublicDecision> {
  const route = verdict === "release" ? "POST /api/events/:event/release" : "POST /api/events/:event/drop";
  const fn = name === undefined ? {} : { function: names.slugOf(name) };
  const what = `Event ${id}`;
  // Asked twice, the server would answer that the event does not wait any more: when the answer is lost, a person has to look.
  const request = requestTo(route, { params: { event: id }, body: { ...fn, reason } }, { what, once: true });
  const answer = await server.ask(request);
  throwKnown(answer, id, name ?? "");
  const { decision } = answerTo(server, route, answer, what);
  return { ...decision, function: names.nameOf(decision.function) };
}

function throwKnown(answer: HttpResponse, eventId: string, name: string): void {
  if (answer.status !== 404 && answer.status !== 409 && answer.status !== 400) return;
  const { code, detail } = readProblem(answer.body);
  // After the part that says of what it is the reason.
  const why = detail.slice(detail.indexOf(": ") + 2);
  switch (code) {
    case "SUBJECT_UNKNOWN":
      throw errors.SUBJECT_UNKNOWN({ id: eventId });
    case "FUNCTION_UNKNOWN":
      throw errors.FUNCTION_UNKNOWN({ function: name });
    case "EVENT_NOT_WAITING":
      throw errors.EVENT_NOT_WAITING({ eventId, why });
    case "OPTION_INVALID":
      throw errors.OPTION_INVALID({ option: "function", why });
  }
}

function readProblem(body: string): { readonly code: string; readonly detail: string } {
  try {
    const { code, detail } = JSON.parse(body) as Record<string, unknown>;
    return { code: String(code), detail: String(detail) };
  } catch {
    // No JSON: a proxy's page, most likely, and reported as such by the next reader of the answer.
    return { code: "", detail: "" };
  }
}
