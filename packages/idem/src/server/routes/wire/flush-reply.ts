// POST /v0/connect/flush: a worker delivers a reply that it could not give over its socket. Nobody may wait for it any more;
// it is acknowledged all the same, or the worker would keep it for ever; unless another node may wait for it.
import { errors } from "../../../model/errors.ts";
import { flushResponse, protobufType, type SdkResponse, sdkResponse } from "../../../protocol/connect-messages.ts";
import { MalformedMessageError } from "../../../protocol/protobuf-message.ts";
import { connectLimits } from "../../connect/connect-limits.ts";
import type { Route } from "../../route.ts";

export const flushReply: Route = {
  method: "POST",
  path: "/v0/connect/flush",
  access: "signing-key",
  bodyBytesMax: connectLimits.messageBytesMax,
  contentTypes: [protobufType, "application/octet-stream"],
  errors: "wire",
  async handle(request, world) {
    const response = readReply(request.body);
    await world.connect.flush(request.env, response);
    const { requestId } = response;
    return { status: 200, headers: { "content-type": protobufType }, body: flushResponse.encode({ requestId }) };
  },
};

function readReply(body: Uint8Array): SdkResponse {
  try {
    return sdkResponse.decode(body);
  } catch (error) {
    if (!(error instanceof MalformedMessageError)) throw error;
    throw errors.REQUEST_INVALID({ why: `its body is no SDKResponse: ${error.message}` });
  }
}
