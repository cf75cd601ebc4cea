// POST /v0/connect/start: a worker asks where to open its socket, and with which token.
import { errors } from "../../../model/errors.ts";
import { protobufType, startRequest } from "../../../protocol/connect-messages.ts";
import { MalformedMessageError } from "../../../protocol/protobuf-message.ts";
import { checkExecutes, connectPath } from "../../connect/connect-workers.ts";
import type { Route, RouteRequest } from "../../route.ts";

export const startConnection: Route = {
  method: "POST",
  path: "/v0/connect/start",
  access: "signing-key",
  // A list of gateways to avoid, of which there is one.
  bodyBytesMax: 64 * 1024,
  contentTypes: [protobufType, "application/octet-stream"],
  errors: "wire",
  async handle(request, world) {
    checkBody(request.body);
    checkExecutes(world.settings);
    const body = world.connect.start(request.env, endpointFor(request, world.origin), world);
    return { status: 200, headers: { "content-type": protobufType }, body };
  },
};

/** Gateways to avoid are named in it; where there is only this one, it is read to refuse what is no such request. */
function checkBody(body: Uint8Array): void {
  try {
    startRequest.decode(body);
  } catch (error) {
    if (!(error instanceof MalformedMessageError)) throw error;
    throw errors.REQUEST_INVALID({ why: `its body is no StartRequest: ${error.message}` });
  }
}

/** Where the worker reached us it reaches us again; a proxy that speaks TLS for us says so. */
function endpointFor({ headers }: RouteRequest, origin: string): string {
  const isSecure = headers["x-forwarded-proto"]?.split(",")[0]?.trim() === "https";
  const { host } = headers;
  const reached = host !== undefined && hostShape.test(host) ? host : new URL(origin).host;
  return `${isSecure ? "wss" : "ws"}://${reached}${connectPath}`;
}

const hostShape = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:\d{1,5})?$/;
