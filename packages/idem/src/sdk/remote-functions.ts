// idem.functions, and releasing and dropping events, of a client whose store is at a server. What the server refuses is said with the
// errors that a client with a store of its own gives.
import type { Verdict } from "../engine/redecide-events.ts";
import type { ResumedPart } from "../engine/resume-function.ts";
import { errors } from "../model/errors.ts";
import type { HttpResponse } from "../platform/platform.ts";
import { type FunctionsApi, inParts, type PublicFunction } from "./functions-api.ts";
import type { PublicDecision } from "./public-types.ts";
import type { VerdictOptions } from "./reads-api.ts";
import type { FunctionNames } from "./remote-reads.ts";
import type { RemoteServer } from "./remote-server.ts";

type FunctionItem = Pick<PublicFunction, "app" | "name" | "triggers" | "flow" | "pausedAt" | "open" | "pending"> & {
  readonly function: string;
};

export function remoteFunctions(server: RemoteServer, names: FunctionNames): FunctionsApi {
  const act = async (name: string, action: "pause" | "resume", body: object): Promise<any> => {
    const fn = names.slugOf(name);
    const path = `/api/functions/${encodeURIComponent(fn)}/${action}`;
    const what = `Function "${name}"`;
    const answer = await server.ask({ method: "POST", path, body: JSON.stringify(body), what });
    if (answer.status === 404) throw errors.FUNCTION_UNKNOWN({ function: fn });
    return server.readJson(answer, what);
  };
  return {
    async list() {
      const what = "The list of functions";
      const answer = server.readJson(await server.ask({ method: "GET", path: "/api/functions", what }), what);
      return (answer as { functions: FunctionItem[] }).functions.map((item) => ({
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
    async pause(id, options = {}) {
      const { changed, function: item } = await act(id, "pause", options);
      return { changed, pausedAt: item.pausedAt };
    },
    resume: (id, options = {}) =>
      inParts((next): Promise<ResumedPart> => act(id, "resume", { ...options, ...(next === null ? {} : { next }) })),
  };
}

export async function decideRemotely(
  server: RemoteServer,
  names: FunctionNames,
  verdict: Verdict,
  id: string,
  { function: name, reason }: VerdictOptions = {},
): Promise<PublicDecision> {
  const fn = name === undefined ? {} : { function: names.slugOf(name) };
  const body = JSON.stringify({ ...fn, ...(reason === undefined ? {} : { reason }) });
  const path = `/api/events/${encodeURIComponent(id)}/${verdict}`;
  const what = `Event ${id}`;
  // A second asking would be told that the event does not wait any more: when the answer is lost, somebody has to look.
  const answer = await server.ask({ method: "POST", path, body, what, once: true });
  throwKnown(answer, id, name ?? "");
  const { decision } = server.readJson(answer, what) as { decision: PublicDecision };
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
    // No JSON: a proxy's page, most likely, and told as such by whoever reads the answer next.
    return { code: "", detail: "" };
  }
}
