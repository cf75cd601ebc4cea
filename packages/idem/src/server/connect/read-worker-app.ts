// One app of a worker's greeting as the registration it is.
import { errors } from "../../model/errors.ts";
import type { WorkerApp, WorkerConnect } from "../../protocol/connect-messages.ts";
import { readJson } from "../../protocol/read-json.ts";
import { readAppName, readFunctions } from "../../protocol/register-request.ts";
import { checkSdkVersion } from "../../protocol/sdk-version.ts";
import type { AppRegistration } from "../apps.ts";

// Shown to people, never compared.
const labelCharsMax = 128;

export function readWorkerApp(app: WorkerApp, greeting: WorkerConnect): AppRegistration {
  const name = readAppName(app.appName, "app_name");
  checkSdkVersion(name, sdkOf(greeting));
  return {
    app: name,
    url: null,
    // Whatever address the SDK invented for them: they are where the worker is.
    functions: readFunctions(name, readList(name, app.functions)).map(({ fn, config }) => ({
      fn,
      config: { ...config, runtime: { kind: "connect" } },
    })),
    sdk: label(sdkOf(greeting)),
    framework: label(greeting.framework),
    appVersion: label(app.appVersion),
  };
}

function readList(name: string, bytes: Uint8Array): unknown {
  try {
    return readJson(bytes);
  } catch (error) {
    throw errors.REQUEST_INVALID({ why: `the functions of app "${name}" are not JSON` }, { cause: error });
  }
}

/** As apps that are reached by URL write it: "js:v4.24.0". */
function sdkOf({ sdkLanguage, sdkVersion }: WorkerConnect): string {
  return `${sdkLanguage === "typescript" ? "js" : sdkLanguage}:${sdkVersion}`;
}

const label = (value: string | null): string | null =>
  value === null || value === "" ? null : value.slice(0, labelCharsMax);
