// Fetched by an app when a call would be too large to carry it: GET /v0/runs/:runId/actions (the memo) and /batch (the events).

import { errors } from "../../../model/errors.ts";
import { calledEvent } from "../../../protocol/invoked-event.ts";
import { statesOf } from "../../../protocol/memo-state.ts";
import type { RunMemo } from "../../../store/leases.ts";
import type { Route, RouteAnswer, RouteRequest } from "../../route.ts";
import type { World } from "../../world.ts";

const route = (what: string, textOf: (memo: RunMemo) => string): Route => ({
  method: "GET",
  path: `/v0/runs/:runId/${what}`,
  access: "signing-key",
  bodyBytesMax: null,
  errors: "wire",
  handle: async (request, world) => answerOf(textOf(await memoOf(request, world))),
});

export const readRunActions: Route = route("actions", (memo) =>
  statesOf(
    [...memo.steps].sort((a, b) => a.stamp - b.stamp),
    memo.inputs,
  ),
);

export const readRunEvents: Route = route("batch", (memo) =>
  JSON.stringify(memo.events.map((event) => ({ user: {}, ...calledEvent(event) }))),
);

async function memoOf({ env, params }: RouteRequest, world: World): Promise<RunMemo> {
  const { store } = await world.engine(env);
  const memo = await store.reads.runMemo(env, params.runId!);
  if (memo === null) throw errors.RUN_UNKNOWN({ runId: params.runId! });
  return memo;
}

const answerOf = (text: string): RouteAnswer => ({
  status: 200,
  headers: { "content-type": "application/json" },
  body: text,
});
