// The client of the function that is verified, as senders and people use it: an event is sent until it was answered; a signal, a cancel and a rerun once.
import type { Json } from "../thing.ts";
import { asCaller } from "./caller.ts";
import type { Life } from "./life.ts";

export interface TargetClientPorts {
  readonly fn: string;
  readonly living: () => Life | null;
  readonly say: (text: string) => void;
  readonly unproven: (what: string) => void;
}

interface Sent {
  readonly name: string;
  readonly id?: string;
}

export class TargetClient {
  readonly delivered = new Set<string>();
  /** Sent, and not answered yet: their senders send them again. */
  private readonly unanswered = new Map<string, Sent>();

  constructor(private readonly ports: TargetClientPorts) {}

  get isUnanswered(): boolean {
    return this.unanswered.size > 0;
  }

  /** An event `invented` here may not exist at all, by its schema: refused, it shows nothing. */
  deliver(event: Sent, what: string, invented = false): void {
    const { say, unproven } = this.ports;
    this.delivered.add(event.id ?? what);
    this.unanswered.set(what, event);
    const sent = this.ask((client) => client.send(event as never), what);
    sent?.then(
      () => this.unanswered.delete(what),
      (error: unknown) => {
        this.unanswered.delete(what);
        const why = `the event was refused: ${messageOf(error)}`;
        if (invented) say(why);
        else unproven(why);
      },
    );
  }

  /** To the next process, whatever the last one left without an answer. */
  deliverAgain(): void {
    for (const [what, event] of [...this.unanswered]) {
      const isAgain = what.startsWith("again: ");
      this.deliver(event, isAgain ? what : `again: ${what}`);
      if (!isAgain) this.unanswered.delete(what);
    }
  }

  sendSignal(signal: { readonly signal: string; readonly data: Json }, what: string): void {
    this.ask((client) => client.sendSignal(signal), what)?.catch((error: unknown) =>
      this.ports.unproven(`the signal was refused: ${messageOf(error)}`),
    );
  }

  /** In the process whose run it is. */
  cancel(life: Life, runId: string, onCancelled: () => void): void {
    this.ask((client) => client.runs.cancel(runId), null, life)?.then(onCancelled, (error: unknown) =>
      this.ports.say(`it could not be cancelled: ${messageOf(error)}`),
    );
  }

  /** Whether it was; null where no process could be asked. */
  async rerun(runId: string, fromStep: string | null): Promise<boolean | null> {
    const options = fromStep === null ? {} : { fromStep };
    const asked = this.ask((client) => client.runs.rerun(runId, options), null);
    if (asked === null) return null;
    try {
      await asked;
      return true;
    } catch (error) {
      this.ports.say(`it could not be rerun: ${messageOf(error)}`);
      return false;
    }
  }

  /** Null where no process has such a client. */
  private ask<T>(
    act: (client: Life["clients"][number]["client"]) => Promise<T>,
    what: string | null,
    life = this.ports.living(),
  ): Promise<T> | null {
    const taken = life?.clients.find(({ codes }) => codes.some(({ fn }) => fn === this.ports.fn));
    if (life === null || taken === undefined) return null;
    if (what !== null) this.ports.say(what);
    return asCaller({ life, run: null }, () => act(taken.client));
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
