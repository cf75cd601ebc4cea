// A server on a free port with a store in memory, for tests; closed when the test is over.
import { onTestFinished } from "vitest";
import type { Logger } from "../execute/function-code.ts";
import { defineFunction } from "../sdk/create-function.ts";
import type { FunctionOptions, TriggerInput } from "../sdk/function-types.ts";
import { type RunningServer, type ServerParts, startServer } from "./start-server.ts";
import type { ServerSettings } from "./world.ts";

/** Good ones: a server with keys takes no others. */
export const testKeys = {
  event: "9e41c7d20ab85f36",
  signing: "4f2a9c0e7b1d8356af03c9e2517bd864",
  otherSigning: "91c7e04b6da2f385d8027fb1c45e639a",
} as const;

export interface TestServer extends RunningServer {
  /** Its log: level and words. */
  readonly logged: { readonly level: keyof Logger; readonly text: string }[];
  ask(path: string, init?: RequestInit): Promise<{ status: number; headers: Headers; text: string; json: any }>;
  /** A function that lives in the server's own process. */
  define(
    id: string,
    trigger: TriggerInput,
    handler: (context: any) => unknown,
    options?: Partial<FunctionOptions>,
  ): Promise<void>;
}

export async function testServer(settings: Partial<ServerSettings> = {}, parts: ServerParts = {}): Promise<TestServer> {
  const logged: TestServer["logged"] = [];
  const log =
    (level: keyof Logger) =>
    (...words: unknown[]) =>
      void logged.push({ level, text: words.map(String).join(" ") });
  const logger = { debug: log("debug"), info: log("info"), warn: log("warn"), error: log("error") };
  const quiet = { port: 0, store: "memory:", discovery: false, poll: false };
  const server = await startServer({ ...quiet, ...settings }, { logger, logStyle: "lines", ...parts });
  onTestFinished(() => server.close({ graceMs: 0 }));
  return {
    ...server,
    logged,
    ask: async (path, init) => {
      const answer = await fetch(`${server.origin}${path}`, init);
      const text = await answer.text();
      const isJson = /json/.test(answer.headers.get("content-type") ?? "");
      return { status: answer.status, headers: answer.headers, text, json: isJson ? JSON.parse(text) : null };
    },
    define: async (id, trigger, handler, options = {}) => {
      const engine = await server.world.engine("default");
      await engine.register(defineFunction("test", { id, retries: 0, ...options }, [trigger], handler));
    },
  };
}
