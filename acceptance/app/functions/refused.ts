// A function that cannot be registered.
import type { AppParts } from "./define.ts";

export function refused({ define }: AppParts): any[] {
  return [
    define("fine", {}, () => "fine"),
    define("broken", { triggers: [{ event: "a/b", if: "event.data.x ==" }] }, () => "broken"),
  ];
}
