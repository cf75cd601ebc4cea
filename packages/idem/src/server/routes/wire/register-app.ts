// POST /fn/register: an app registers its functions (docs/reference/wire.md#syncs). All of them or none: the first that cannot be
// registered is named with the reason, which the app shows to its developer.
import { errors, IdemError } from "../../../model/errors.ts";
import { readRegisterRequest } from "../../../protocol/register-request.ts";
import { serverKind } from "../../call-app.ts";
import { json, type Route } from "../../route.ts";
import { checkRegistration } from "../../sync-app.ts";

// A thousand functions with all their options are about 1 MiB.
const bodyBytesMax = 4 * 1024 * 1024;

export const registerApp: Route = {
  method: "POST",
  path: "/fn/register",
  access: "signing-key",
  bodyBytesMax,
  errors: "wire",
  async handle(request, world) {
    const kind = serverKind(world.settings.mode);
    const expected = request.headers["x-inngest-expected-server-kind"];
    if (expected !== undefined && expected !== "" && expected !== kind) {
      throw errors.SERVER_KIND_MISMATCH({ expected: expected.slice(0, 32), kind });
    }
    const registration = readRegisterRequest(request.json());
    checkRegistration(registration, world.settings);
    try {
      const { modified } = await world.apps.register(request.env, registration);
      return json({ ok: true, modified, status: 200 });
    } catch (error) {
      if (error instanceof IdemError) world.apps.noteFailure(request.env, registration.url, error.message);
      throw error;
    }
  },
};
