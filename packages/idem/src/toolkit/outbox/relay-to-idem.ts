// Messages become events of Idem, under the event's own id or else the message's. A relay that dies between the two sends it again, and Idem answers that it is a
// duplicate: once, for as long as Idem remembers the id. A message that was tried longer ago than that is not sent blindly; it dies as unknown.
import { IdemError } from "../../model/errors.ts";
import { relayMark } from "../../model/relay-mark.ts";
import { NonRetriableError } from "../../model/user-errors.ts";
import type { MessageTask } from "./dispatcher.ts";

/** An `Idem` client, embedded or of a server. */
export interface EventDestination {
  /** Any event: a client with schemas takes only those it knows, and checks each when it is sent. */
  send(event: never, options: { readonly window: number }): Promise<unknown>;
}

/** In the last tenth of its memory a destination may forget while a request is under way. */
const margin = 0.1;

export const relayTask =
  (idem: EventDestination, windowMs: number): MessageTask =>
  async (message, { attempt, triedForMs }) => {
    if (attempt > 1 && triedForMs > windowMs * (1 - margin)) {
      throw new NonRetriableError("outcome-unknown: first tried longer ago than Idem remembers its id");
    }
    const options = { window: windowMs, [relayMark]: true };
    try {
      await idem.send({ ...message.event, id: message.event.id ?? message.id } as never, options);
    } catch (error) {
      // An event that does not fit its schema fits no better in a minute.
      if (error instanceof IdemError && error.retry !== "later") {
        throw new NonRetriableError(error.message, { cause: error });
      }
      throw error;
    }
  };
