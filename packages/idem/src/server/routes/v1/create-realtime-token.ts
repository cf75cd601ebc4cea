// POST /v1/realtime/token: an app asks, for a browser say, for the right to hear certain topics for a while.
import { errors } from "../../../model/errors.ts";
import { readTokenRequest } from "../../../protocol/realtime-frames.ts";
import { mintRealtimeToken } from "../../realtime/realtime-token.ts";
import { json, type Route } from "../../route.ts";
import { tokenCharsMax } from "../../tokens.ts";

export const createRealtimeToken: Route = {
  method: "POST",
  path: "/v1/realtime/token",
  access: "signing-key",
  bodyBytesMax: 64 * 1024,
  errors: "wire",
  async handle(request, world) {
    const jwt = mintRealtimeToken(world.tokens, request.env, { topics: readTokenRequest(request.json()) });
    if (jwt.length > tokenCharsMax) {
      throw errors.REQUEST_INVALID({ why: "the names of its topics do not fit into one token; ask for fewer" });
    }
    return json({ jwt }, 201);
  },
};
