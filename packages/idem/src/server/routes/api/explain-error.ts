// The page a problem's `type` leads to: what the code means and what to do, without the facts of any one case.
import { type ErrorCode, errors, errorTable } from "../../../model/errors.ts";
import type { Route } from "../../route.ts";

const retryWords = {
  never: "Trying again cannot help.",
  later: "Trying again later can help.",
  "after-fix": "Trying again helps once something was changed.",
} as const;

/** Every fact is its own name in ‹quotes›, as in docs/errors.md. */
const anyFacts = new Proxy({}, { get: (_, name) => `‹${String(name)}›` });

export const explainError: Route = {
  method: "GET",
  path: "/docs/errors/:code",
  access: "open",
  bodyBytesMax: null,
  errors: "problem",
  handle: ({ params: { code }, method, path }) => {
    if (!Object.hasOwn(errorTable, code!)) throw errors.ROUTE_UNKNOWN({ method, path });
    const { what, next, retry } = errorTable[code as ErrorCode];
    const text = `# ${code}\n\n${what(anyFacts as never)}.\n\n**Next:** ${next}. ${retryWords[retry]}\n`;
    return { status: 200, headers: { "content-type": "text/markdown; charset=utf-8" }, body: text };
  },
};
