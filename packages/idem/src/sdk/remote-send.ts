// send() of a client whose store is at a server: events are checked here as they would be there, then posted together.
import { eventsToSend } from "../engine/checked-events.ts";
import { type CheckEvents, outgoingEvents } from "../engine/outgoing-events.ts";
import type { Middleware } from "../execute/function-code.ts";
import { type EventIdScope, webhookScope } from "../model/claim.ts";
import { errors } from "../model/errors.ts";
import {
  decisionsHeader,
  deliveryHeader,
  sharedDelivery,
  sourceRunHeader,
  windowHeader,
  writeEvent,
} from "../protocol/app-event.ts";
import { traceparentHeader } from "../protocol/traceparent.ts";
import type { PublicDecision } from "./public-types.ts";
import type { RemoteServer } from "./remote-server.ts";
import type { SendResult } from "./send-result.ts";

export interface RemoteSend {
  readonly events: readonly unknown[];
  readonly middleware: readonly Middleware[];
  readonly check: CheckEvents;
  readonly now: number;
  /** Null for the server's own. */
  readonly windowMs: number | null;
  /** The scope their ids are unique within; that of senders' ids by default. */
  readonly idScope?: EventIdScope | undefined;
  /** Whether the receiver lets others send under the names of its deliveries. */
  readonly isShared?: boolean | undefined;
  /** The name of an event in errors. */
  readonly place?: (index: number, count: number) => string;
  /** Set for what a step sends: its run, and the ids of events that have none of their own. */
  readonly step?: { readonly runId: string; readonly fallbackId: (index: number) => string };
  /** The span that sends them; null where nobody traces. */
  readonly traceparent: string | null;
  /** This app's name for a function, by its full name. */
  readonly nameOf: (fn: string) => string;
}

export async function sendToServer(server: RemoteServer, send: RemoteSend): Promise<SendResult> {
  const given = await outgoingEvents(send.events, send.middleware, send.check);
  if (given.length === 0) return { ids: [], decisions: [], unmatched: true };
  const texts = eventsToSend(given, send.now, send.place).map((event, i) => {
    const hasTs = typeof (given[i] as { ts?: unknown }).ts === "number";
    const callerId = event.callerId ?? send.step?.fallbackId(i) ?? null;
    return writeEvent({ ...event, callerId, ts: hasTs ? event.ts : null });
  });
  const answer = await server.sendEvents(texts, {
    [decisionsHeader]: "1",
    ...(send.windowMs === null ? {} : { [windowHeader]: `${send.windowMs}ms` }),
    ...(send.idScope === webhookScope ? { [deliveryHeader]: send.isShared === true ? sharedDelivery : "1" } : {}),
    ...(send.traceparent === null ? {} : { [traceparentHeader]: send.traceparent }),
    ...(send.step === undefined ? {} : { [sourceRunHeader]: send.step.runId }),
  });
  return readAnswer(answer, server, send.nameOf);
}

/** Another server of the same wire answers with ids alone. */
function readAnswer(answer: unknown, server: RemoteServer, nameOf: RemoteSend["nameOf"]): SendResult {
  const { ids, decisions, unmatched } = (answer ?? {}) as Record<string, unknown>;
  if (!Array.isArray(ids)) {
    const why = "it answered without the ids of the events; is it an Idem server?";
    throw errors.SERVER_REFUSED({ what: "The event", server: server.origin, status: 200, why });
  }
  const decided = (Array.isArray(decisions) ? decisions : []) as PublicDecision[];
  return {
    ids: ids.map(String),
    decisions: decided.map((decision) => ({ ...decision, function: nameOf(decision.function) })),
    ...(unmatched === true ? { unmatched } : {}),
  };
}
