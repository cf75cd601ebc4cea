// The Model Context Protocol as far as tools go (modelcontextprotocol.io/specification, 2025-06-18): one JSON-RPC message in, one out, or none
// for what wants no answer. Nothing is remembered between messages.
import { z } from "zod";
import { IdemError } from "../model/errors.ts";
import { isJsonObject } from "../model/json.ts";
import type { ToolAbout } from "./tools.ts";

const versions = ["2025-06-18", "2025-03-26", "2024-11-05"];

/** An agent reads every byte of it. */
const answerCharsMax = 200_000;

export interface Tool {
  readonly about: ToolAbout;
  /** Shape of what it gives, where that is described. */
  readonly answer?: z.ZodType;
  /** The asker gets what it throws. */
  call(input: never, signal?: AbortSignal): Promise<unknown>;
}

export interface McpServer {
  readonly version: string;
  readonly tools: Readonly<Record<string, Tool>>;
  /** Null where tools that change something may be called; else why not, and what would have to be changed. */
  readonly whyNoActs: string | null;
}

type Message = Readonly<Record<string, unknown>>;

const codes = { parse: -32_700, request: -32_600, method: -32_601, params: -32_602 } as const;

/** `text` as it came. */
export async function answerText(server: McpServer, text: string, signal?: AbortSignal): Promise<Message | null> {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return failure(null, codes.parse, "This is not JSON.");
  }
  if (!isJsonObject(message) || message.jsonrpc !== "2.0" || typeof message.method !== "string") {
    return failure(idOf(message), codes.request, "This is not one JSON-RPC 2.0 request.");
  }
  const { method, params } = message;
  // Notices, such as that it is initialized, or that nobody waits for an answer any more.
  if (!("id" in message)) return null;
  const id = idOf(message);
  const given = isJsonObject(params) ? params : {};
  switch (method) {
    case "initialize":
      return success(id, initialized(server, given));
    case "ping":
      return success(id, {});
    case "tools/list":
      return success(id, { tools: Object.entries(server.tools).map(([name, tool]) => listed(server, name, tool)) });
    case "tools/call":
      return callTool(server, id, given, signal);
    default:
      return failure(id, codes.method, `There is no method "${method.slice(0, 64)}".`);
  }
}

function initialized({ version, whyNoActs }: McpServer, { protocolVersion }: Message): Message {
  const known = typeof protocolVersion === "string" && versions.includes(protocolVersion);
  const only = whyNoActs === null ? "" : ` Nothing can be changed here: ${whyNoActs}`;
  return {
    protocolVersion: known ? protocolVersion : versions[0],
    capabilities: { tools: {} },
    serverInfo: { name: "idem", title: "Idem", version },
    instructions: `Durable functions that are safe to repeat. Begin with "doctor" or "functions"; ask "explain" why something ran, did not run or ran twice.${only}`,
  };
}

function listed({ whyNoActs }: McpServer, name: string, { about, answer }: Tool): Message {
  const { title, description, input, acts } = about;
  return {
    name,
    title,
    description: acts && whyNoActs !== null ? `${description} Refused here: ${whyNoActs}` : description,
    inputSchema: z.toJSONSchema(input, { io: "input" }),
    // A choice of objects is an object, which the protocol wants said.
    ...(answer === undefined ? {} : { outputSchema: { type: "object", ...schemaOf(answer) } }),
    annotations: { readOnlyHint: !acts, destructiveHint: false, idempotentHint: !acts, openWorldHint: false },
  };
}

const schemaOf = (answer: z.ZodType): object => z.toJSONSchema(answer, { io: "output", unrepresentable: "any" });

async function callTool(server: McpServer, id: unknown, params: Message, signal?: AbortSignal): Promise<Message> {
  const { name, arguments: given = {} } = params;
  const tool = typeof name === "string" && Object.hasOwn(server.tools, name) ? server.tools[name]! : null;
  if (tool === null) return failure(id, codes.params, `There is no tool "${String(name).slice(0, 64)}".`);
  if (tool.about.acts && server.whyNoActs !== null) return success(id, refusal(server.whyNoActs));
  const read = tool.about.input.safeParse(given);
  if (!read.success) return failure(id, codes.params, `Tool "${name}": ${z.prettifyError(read.error)}`);
  try {
    return success(id, answerOf(await tool.call(read.data as never, signal)));
  } catch (error) {
    return success(id, refusal(told(error)));
  }
}

function answerOf(value: unknown): Message {
  const text = JSON.stringify(value);
  if (text.length > answerCharsMax) {
    return refusal(
      `The answer has ${text.length} characters, more than the ${answerCharsMax} that are given: ask for less, with a lower limit or a filter.`,
    );
  }
  return { content: [{ type: "text", text }], ...(isJsonObject(value) ? { structuredContent: value } : {}) };
}

const refusal = (text: string): Message => ({ content: [{ type: "text", text }], isError: true });

const told = (error: unknown): string =>
  error instanceof IdemError ? error.message : error instanceof Error ? error.message : String(error);

const idOf = (message: unknown): unknown => {
  const id = isJsonObject(message) ? message.id : null;
  return typeof id === "string" || typeof id === "number" ? id : null;
};

const success = (id: unknown, result: Message): Message => ({ jsonrpc: "2.0", id, result });
const failure = (id: unknown, code: number, message: string): Message => ({
  jsonrpc: "2.0",
  id,
  error: { code, message },
});
