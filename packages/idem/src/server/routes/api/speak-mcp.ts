// POST /mcp: what agents and editors ask by the Model Context Protocol, answered by the routes that people and tools have. Viewers
// call nothing that acts; operators act only where the address says it: /mcp?act=true.
import { answerText, type McpServer, type Tool } from "../../../mcp/answer-message.ts";
import { type ToolInput, type ToolName, tools } from "../../../mcp/tools.ts";
import { packageVersion } from "../../../platform/package-files.ts";
import type { Route, RouteRequest } from "../../route.ts";
import { explainSubject } from "./explain-subject.ts";
import { listAlerts } from "./list-alerts.ts";
import { listEvents } from "./list-events.ts";
import { listFunctions } from "./list-functions.ts";
import { listRuns } from "./list-runs.ts";
import { readRun } from "./read-run.ts";
import { readStatus } from "./read-status.ts";
import { rerunRun } from "./rerun-run.ts";
import { sendEvents } from "./send-events.ts";

interface Asked {
  readonly route: Route;
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
}

const askedOf: { readonly [N in ToolName]: { readonly route: Route; ask(input: ToolInput<N>): Omit<Asked, "route"> } } =
  {
    functions: { route: listFunctions, ask: () => ({}) },
    runs: { route: listRuns, ask: (query) => ({ query }) },
    run: { route: readRun, ask: ({ run }) => ({ params: { run } }) },
    events: { route: listEvents, ask: (query) => ({ query }) },
    explain: { route: explainSubject, ask: ({ about, function: fn }) => ({ query: { q: about, function: fn } }) },
    radar: { route: listAlerts, ask: (query) => ({ query }) },
    doctor: { route: readStatus, ask: () => ({}) },
    send: { route: sendEvents, ask: (event) => ({ body: { events: [event] } }) },
    rerun: { route: rerunRun, ask: ({ run, from }) => ({ params: { run }, body: { fromStep: from } }) },
  };

const toldToAct = "the address says nothing of acting: POST /mcp?act=true, by somebody who may act.";
const viewersLook = "viewers may only look.";

export const speakMcp: Route = {
  method: "POST",
  path: "/mcp",
  access: "operator",
  // Each tool it calls is looked at by itself.
  viewerMay: true,
  bodyBytesMax: 1024 * 1024,
  errors: "problem",
  handle: async (request, world) => {
    const { actor, query, signal } = request;
    const mayAct = query.get("act") === "true";
    const server: McpServer = {
      version: packageVersion(),
      tools: Object.fromEntries(
        Object.entries(askedOf).map(([name, { route, ask }]) => [name, toolOf(name as ToolName, route, ask as never)]),
      ),
      whyNoActs: !mayAct ? toldToAct : actor.role === "operator" ? null : viewersLook,
    };
    // Refused where it is nested deeper than any body may be; what is called by it is not looked at again.
    request.json();
    const answer = await answerText(server, request.body.toString("utf8"), signal);
    return answer === null ? { status: 202, body: null } : { status: 200, body: { json: answer } };

    function toolOf(name: ToolName, route: Route, ask: (input: never) => Omit<Asked, "route">): Tool {
      const answers = route.about?.answer;
      return {
        about: tools[name],
        ...(answers === undefined ? {} : { answer: answers }),
        call: async (input) => jsonOf(await route.handle(requestFor(request, { route, ...ask(input) }), world)),
      };
    }
  },
};

/** As if it had come by itself, from the same caller. */
function requestFor(from: RouteRequest, { route, params = {}, query = {}, body }: Asked): RouteRequest {
  const given = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const text = body === undefined ? "" : JSON.stringify(body);
  return {
    ...from,
    method: route.method,
    path: route.path,
    params,
    query: new URLSearchParams(given),
    body: Buffer.from(text),
    json: () => JSON.parse(text),
  };
}

const jsonOf = ({ body }: Awaited<ReturnType<Route["handle"]>>): unknown =>
  body !== null && typeof body === "object" && "json" in body ? body.json : null;
