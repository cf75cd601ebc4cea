// Sends a world's runs what they wait for: once, twice, or never, as its schedule says.
import type { MemoryStore } from "../../store/memory/store.ts";
import type { Json } from "../thing.ts";
import { openWaits } from "./read-world.ts";
import type { Wait } from "./watched-functions.ts";

interface AnswerWaitsOptions {
  readonly waits: ReadonlyMap<string, Wait>;
  /** Null where nothing is wrong with them. */
  readonly how: "twice" | "timeout" | null;
  readonly store: MemoryStore;
  readonly env: string;
  readonly unproven: (what: string) => void;
  readonly sendEvent: (
    event: { readonly name: string; readonly id: string; readonly data: Json },
    what: string,
  ) => void;
  readonly sendSignal: (signal: { readonly signal: string; readonly data: Json }, what: string) => void;
}

export class AnswerWaits {
  constructor(private readonly options: AnswerWaitsOptions) {}

  /** Whether anything was sent. */
  async answer(): Promise<boolean> {
    const { waits, how, store, env, unproven } = this.options;
    const times = how === "twice" ? 2 : 1;
    if (how === "timeout") return false;
    let isSent = false;
    for (const wait of waits.values()) {
      // Not before it listens: what comes earlier does not count.
      for (const stepId of await openWaits(store, env, wait.runId, wait.step)) {
        if (wait.unmade !== null) unproven(wait.unmade);
        for (let sent = wait.sent.get(stepId) ?? 0; wait.unmade === null && sent < times; sent++) {
          wait.sent.set(stepId, sent + 1);
          this.send(stepId, wait, sent);
          isSent = true;
        }
      }
    }
    return isSent;
  }

  private send(stepId: string, { for: what, runId, data }: Wait, sent: number): void {
    const { sendEvent, sendSignal } = this.options;
    const again = sent > 0 ? ", again" : "";
    if ("event" in what) {
      const event = { name: what.event, id: `wait-${runId}-${stepId}-${sent}`, data };
      sendEvent(event, `event ${what.event} arrived, which it waits for${again}`);
    } else {
      sendSignal({ signal: what.signal, data }, `signal ${what.signal} arrived, which it waits for${again}`);
    }
  }

  /** Whether what is to go wrong with them came about. */
  hasMet(): boolean {
    const { waits, how } = this.options;
    const isMet = ({ sent }: Wait): boolean => how === "timeout" || [...sent.values()].some((count) => count > 1);
    return [...waits.values()].some(isMet);
  }
}
