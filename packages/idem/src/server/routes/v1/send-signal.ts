// POST /v1/signals: wakes the run that waits for this signal (docs/reference/wire.md#waits).
import { errors } from "../../../model/errors.ts";
import { isJsonObject, toJson } from "../../../model/json.ts";
import { json, type Route } from "../../route.ts";

const bodyBytesMax = 1024 * 1024;
const signalCharsMax = 1_024;

export const sendSignal: Route = {
  method: "POST",
  path: "/v1/signals",
  access: "signing-key",
  bodyBytesMax,
  errors: "wire",
  async handle(request, world) {
    const body = request.json();
    const { signal, data } = isJsonObject(body) ? body : {};
    if (typeof signal !== "string" || signal === "" || signal.length > signalCharsMax) {
      throw errors.REQUEST_INVALID({ why: `signal must be a name of 1 to ${signalCharsMax} characters` });
    }
    const text = toJson({ signal, data: data ?? null }, `Signal "${signal}"`);
    const engine = await world.engine(request.env);
    const runId = await engine.signal(signal, text);
    // The SDK takes this for an answer, not for an error.
    if (runId === null) return json({ error: `No run waits for signal "${signal}"`, status: 404 }, 404);
    return json({ data: { run_id: runId } });
  },
};
