// POST /fn/register: an app registers its functions (docs/reference/wire.md#syncs). All of them or none: the first that cannot be
// registered is named with the reason, which the app shows to its developer.
import { errors, IdemError } from "../../../model/errors.ts";
import { readRegisteredUrl, readRegisterRequest } from "../../../protocol/register-request.ts";
import { serverKind } from "../../call-app.ts";
import { json, type Route } from "../../route.ts";
import { checkRegistration } from "../../sync-app.ts";
import type { World } from "../../world.ts";

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
    const body = request.json();
    try {
      const registration = readRegisterRequest(body);
      checkRegistration(registration, world.settings);
      const { modified } = await world.apps.register(request.env, registration);
      return json({ ok: true, modified, status: 200 });
    } catch (error) {
      if (error instanceof IdemError) noteRefusal(request.env, body, error, world);
      throw error;
    }
  },
};

/** The app's developer reads the response, and operators read the list of apps and the log. An app may try again every few seconds. */
function noteRefusal(env: string, body: unknown, error: IdemError, { apps, logger }: World): void {
  let url: string;
  try {
    url = readRegisteredUrl(body);
  } catch {
    return;
  }
  const isNews = apps.noteFailure(env, url, error.message);
  if (isNews && error.code === "SDK_VERSION_UNSUPPORTED") logger.warn(`idem: ${error.message}`);
}
