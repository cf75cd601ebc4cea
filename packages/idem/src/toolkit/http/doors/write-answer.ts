// An answer that is decided without the handler, on a Node response: what middleware before this has set (CORS of this request, a trace) stays.
import type { ServerResponse } from "node:http";
import { putStatus } from "./response-head.ts";

export async function writeAnswer(response: ServerResponse, answer: Response): Promise<void> {
  const bytes = answer.body === null ? null : Buffer.from(await answer.arrayBuffer());
  putStatus(response, { status: answer.status, message: answer.statusText });
  const named = new Set<string>();
  for (const [name, value] of answer.headers) {
    if (named.has(name)) response.appendHeader(name, value);
    else response.setHeader(name, value);
    named.add(name);
  }
  // Of a request that was not read to its end, the rest is not worth reading: the connection ends with the answer.
  if (!response.req.complete) {
    response.setHeader("connection", "close");
    response.req.resume();
  }
  if (bytes === null) response.end();
  else response.end(bytes);
}
