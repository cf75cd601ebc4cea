// The context given to a handler beside its request.
import { destinationKey } from "../../dedup/destination-key.ts";
import type { Platform } from "../../platform/platform.ts";
import type { KeyContext } from "./begin.ts";

export interface OwnContext {
  readonly context: KeyContext;
  /** Whether something outside may have been changed by the time this was thrown. */
  hasEffects(error: unknown): boolean;
}

export function keyContext(of: { id: string; attempt: number; fence: number; signal: AbortSignal }): OwnContext {
  let hasBegun = false;
  let partsAtWork = 0;
  const vouchedFor = new WeakSet<object>();
  const context: KeyContext = {
    attempt: of.attempt,
    fence: of.fence,
    signal: of.signal,
    destinationKey(name) {
      // A handler that asks for the key of a destination is about to write there.
      if (partsAtWork === 0) hasBegun = true;
      return keyOf(of.id, name);
    },
    async beforeEffects(part) {
      partsAtWork++;
      try {
        return await part();
      } catch (error) {
        // An error is known again by being the same object.
        const thrown = error instanceof Object ? error : new Error(String(error), { cause: error });
        vouchedFor.add(thrown);
        throw thrown;
      } finally {
        partsAtWork--;
      }
    },
  };
  const isVouchedFor = (error: unknown) => error instanceof Object && vouchedFor.has(error);
  return { context, hasEffects: (error) => hasBegun || !isVouchedFor(error) };
}

/** For a request without a key: nothing is claimed, so a destination key only lasts for this one attempt. */
export function plainContext(request: Request, platform: Platform): KeyContext {
  const id = Buffer.from(platform.randomBytes(32)).toString("hex");
  return {
    attempt: 1,
    fence: 0,
    signal: request.signal,
    destinationKey: (name) => keyOf(id, name),
    beforeEffects: async (part) => part(),
  };
}

const keyOf = (id: string, name: string): string =>
  destinationKey({ env: "", fn: "idem/http", subject: id, generation: "" }, name, 0);
