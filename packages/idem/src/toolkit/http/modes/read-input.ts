// A mode's input, read from its request before the claim: an unreadable one is refused, and no key is spent on it.
import { problemType } from "../../../protocol/problem.ts";
import type { SchemaIssue, StandardSchema } from "../../../sdk/standard-schema.ts";

/** From a request to its input: a Standard Schema of its JSON body, or a function. A Response that the function throws is the answer. */
export type InputOf<Input> = StandardSchema<unknown, Input> | ((request: Request) => Input | Promise<Input>);

export type ReadInput =
  | { readonly kind: "input"; readonly value: unknown }
  | { readonly kind: "refused"; readonly response: Response };

export async function readInput(input: InputOf<unknown>, request: Request): Promise<ReadInput> {
  if (typeof input === "function" && !("~standard" in input)) return readBy(input, request);
  let body: unknown;
  try {
    body = await request.json();
  } catch {
    return invalid([{ message: "the body is not JSON" }]);
  }
  const result = await (input as StandardSchema)["~standard"].validate(body);
  return result.issues === undefined ? { kind: "input", value: result.value } : invalid(result.issues);
}

async function readBy(input: (request: Request) => unknown, request: Request): Promise<ReadInput> {
  try {
    return { kind: "input", value: await input(request) };
  } catch (error) {
    if (error instanceof Response) return { kind: "refused", response: error };
    throw error;
  }
}

// As many as a person reads; a list of all of them could be as long as the body.
const issuesMax = 20;

function invalid(issues: readonly SchemaIssue[]): ReadInput {
  const problem = {
    type: "urn:idem:problem:input-invalid",
    title: "The request does not fit",
    status: 400,
    detail: "Correct the request and send it again; nothing was executed.",
    issues: issues.slice(0, issuesMax).map(({ message, path = [] }) => ({
      path: path.map((part) => String(typeof part === "object" ? part.key : part)).join("."),
      message,
    })),
    retryable: false,
  };
  const headers = { "content-type": problemType, "cache-control": "no-store" };
  return { kind: "refused", response: new Response(JSON.stringify(problem), { status: 400, headers }) };
}
