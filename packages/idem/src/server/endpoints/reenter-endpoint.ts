// Enters a durable endpoint's handler again: the request its run began with is repeated, and the SDK around the handler
// fetches the memo and answers with what comes next (docs/reference/wire.md#durable-endpoints).
import type { Engine } from "../../engine/engine.ts";
import type { Remote } from "../../execute/remote.ts";
import { errors } from "../../model/errors.ts";
import { readHttpCall, writeReentry } from "../../protocol/endpoint-request.ts";
import { signatureHeader, signRequest } from "../../protocol/request-signature.ts";
import { type CallAppOptions, serverKind } from "../call-app.ts";
import { exchange } from "../exchange.ts";
import { endpointLimits } from "./limits.ts";

export const reenterEndpoint = (engine: () => Promise<Engine>, env: string, options: CallAppOptions): Remote => ({
  async call(call) {
    const { platform, credentials, mode } = options;
    const { store } = await engine();
    const memo = await store.reads.runMemo(env, call.runId);
    if (memo === null) throw errors.RUN_UNKNOWN({ runId: call.runId });
    const request = writeReentry(readHttpCall(JSON.parse(memo.event.data)), {
      ...call,
      serverKind: serverKind(mode),
    });
    options.checkUrl(request.url);
    const { origin } = new URL(request.url);
    const key = mode === "start" ? credentials.signingKeyOf(env) : null;
    // Empty in dev, but there: by it the SDK knows that the server calls.
    const signature = key === null ? "" : signRequest(request.signed, key, platform.wallMs());
    return exchange(
      env,
      {
        url: request.url,
        method: request.method,
        headers: { ...request.headers, [signatureHeader]: signature },
        body: request.body,
        bodyBytesMax: endpointLimits.replyBytesMax,
        signal: call.signal,
      },
      origin,
      key !== null,
      options,
    );
  },
});
