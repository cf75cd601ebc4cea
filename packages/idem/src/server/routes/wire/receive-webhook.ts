// POST /w/:source: a provider delivers. Its signature is its credential: nothing is stored, and nobody learns more than "no", before that
// was checked. It is kept as an event under the delivery's id, in one commit with the runs it starts; a redelivery finds it there.
import { webhookScope } from "../../../model/claim.ts";
import { readTraceparent, traceparentHeader } from "../../../protocol/traceparent.ts";
import { eventsApi } from "../../../sdk/reads-api.ts";
import { sendResultOf } from "../../../sdk/send-result.ts";
import { keepInEngine } from "../../../toolkit/webhooks/keep-in-engine.ts";
import { receiver, type WebhookNote } from "../../../toolkit/webhooks/receive.ts";
import { businessKeyOf, providerOf, windowMsOf } from "../../../toolkit/webhooks/source-setting.ts";
import { checkEnvName, defaultEnv } from "../../admit-caller.ts";
import type { Route, RouteAnswer, RouteRequest } from "../../route.ts";
import { findSource } from "../../webhooks/source-shape.ts";
import type { World } from "../../world.ts";

const bytesMax = 1024 * 1024;

const base = {
  method: "POST",
  access: "open",
  bodyBytesMax: bytesMax,
  // Bytes are signed, whatever they are said to be.
  contentTypes: ["*"],
  errors: "problem",
} as const;

export const receiveWebhook: Route = {
  ...base,
  path: "/w/:source",
  handle: (request, world) => receive(request, world, defaultEnv),
};

export const receiveWebhookIn: Route = {
  ...base,
  path: "/w/:env/:source",
  handle: (request, world) => receive(request, world, request.params.env!),
};

async function receive(request: RouteRequest, world: World, env: string): Promise<RouteAnswer> {
  const source = request.params.source!;
  checkEnvName(env);
  // Asked of the store as it is: the caller has shown nothing yet, and must not be able to open environments by naming them.
  const { store } = await world.engine(defaultEnv);
  const { value } = await findSource(store, env, source);
  const engine = await world.engine(env);
  const trace = readTraceparent(request.headers[traceparentHeader]);
  const deliveries = {
    send: async (event: unknown, { window }: { readonly window: number }) => {
      await world.reservedNames.refuseDelivered(engine, source, event);
      return sendResultOf(await engine.accept([event], window, [], { idScope: webhookScope, trace }));
    },
    get: eventsApi(async () => engine).get,
  };
  const storage = keepInEngine({
    deliveries,
    windowMs: windowMsOf(value),
    platform: world.platform,
    source,
    names: value.config.events ?? source,
    transform: undefined,
    businessKey: businessKeyOf(value),
  });
  const onNote = (note: WebhookNote) => {
    world.deliveries.add(env, note, world.platform.wallMs());
    void world.metrics?.().then((metrics) => metrics.delivered(env, source, note.kind));
  };
  const options = { source, provider: providerOf(value), onNote, bytesMax };
  const take = receiver({ ...options, normalise: undefined, ackBudget: undefined, platform: world.platform }, storage);
  const answer = await take(fetchRequest(request, world));
  const text = await answer.text();
  return { status: answer.status, headers: Object.fromEntries(answer.headers), body: text === "" ? null : text };
}

function fetchRequest({ headers, path, query, body }: RouteRequest, world: World): Request {
  const given = new Headers();
  for (const [name, header] of Object.entries(headers)) if (header !== undefined) given.append(name, header);
  const search = query.toString() === "" ? "" : `?${query}`;
  return new Request(`${world.origin}${path}${search}`, { method: "POST", headers: given, body: new Uint8Array(body) });
}
