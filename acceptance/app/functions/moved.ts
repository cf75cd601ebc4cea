// The app after a deployment that nobody registered: one function is gone, another listens to something else.
import type { AppParts } from "./define.ts";

export function moved({ app, define }: AppParts): any[] {
  return [define("sequential", { triggers: [{ event: `${app}/something-else` }] }, () => "never reached")];
}
