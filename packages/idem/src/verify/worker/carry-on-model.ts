// A request to a destination, carried out on its model as the world lets it: a question is answered, an effect may meet what its schedule has for it.
import {
  type DestinationModel,
  isRead,
  keyOf,
  type ModelAnswer,
  type ModelRequest,
  pathOf,
  readBody,
  withKey,
} from "../destination-model.ts";
import { knownHost } from "../known-hosts.ts";
import type { Outside } from "./watcher.ts";

/** For people: "POST api.stripe.com/v1/invoices". */
export const titleOf = (request: ModelRequest): string =>
  `${request.method} ${request.url.host}/${pathOf(request).join("/")}`;

/** Null where the answer was lost. */
export async function carryOnModel(
  model: DestinationModel,
  request: ModelRequest,
  outside: Pick<Outside, "read" | "effect">,
): Promise<ModelAnswer | null> {
  const { url } = request;
  const title = titleOf(request);
  if (isRead(request)) return outside.read(() => model.ask(request, { fn: null, effect: 0 }), title);
  const body = readBody(request.body, request.headers["content-type"] ?? "");
  const { key } = keyOf(request, body, knownHost(url.hostname));
  const became = await outside.effect({ watcher: "http", title, key }, (by) => {
    const answer = model.ask(by.key === null ? request : withKey(request, by.key, knownHost(url.hostname)), by);
    return { value: answer, isRepeat: answer.isRepeat, isForgotten: answer.isForgotten };
  });
  switch (became.kind) {
    case "happened":
      return became.value;
    case "lost":
      return null;
    case "refused":
      return refusal(became.status);
  }
}

const refusal = (status: 500 | 429 | 409): ModelAnswer => ({
  status,
  headers: { "content-type": "application/json", ...(status === 429 ? { "retry-after": "5" } : {}) },
  body: JSON.stringify({ error: { type: "refused", message: `the destination answered ${status}` } }),
  isRepeat: false,
  isForgotten: false,
  isMadeUp: false,
});
