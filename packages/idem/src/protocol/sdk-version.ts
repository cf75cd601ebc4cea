// Decides by an app's own statement whether its version of the official JavaScript SDK is supported. Versions before 3.12 write step results in
// another shape: their steps would get `{ data: x }` instead of x, and nothing would fail.
import { errors } from "../model/errors.ts";

export const oldestJsSdk = "3.12.0";

const [oldestMajor, oldestMinor] = oldestJsSdk.split(".").map(Number) as [number, number];
// "inngest-js:v3.11.0" in headers, "js:v3.11.0" in registrations. A prerelease has the behavior of the version it leads to.
const jsVersion = /^(?:inngest-)?js:v?((\d{1,6})\.(\d{1,6})\.\d{1,6}[\w.+-]{0,64})$/;

/** The version, if it is one of the official JavaScript SDK that is too old. Null for other SDKs, and if none is named. */
export function unsupportedSdkVersion(sdk: unknown): string | null {
  const [, version, major, minor] = (typeof sdk === "string" ? jsVersion.exec(sdk) : null) ?? [];
  if (version === undefined) return null;
  const isOlder = Number(major) < oldestMajor || (Number(major) === oldestMajor && Number(minor) < oldestMinor);
  return isOlder ? version : null;
}

/** `app` is its URL, or its name if it has none. Throws SDK_VERSION_UNSUPPORTED. */
export function checkSdkVersion(app: string, sdk: unknown): void {
  const version = unsupportedSdkVersion(sdk);
  if (version !== null) throw errors.SDK_VERSION_UNSUPPORTED({ app, version, oldest: oldestJsSdk });
}
