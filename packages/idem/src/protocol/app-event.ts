// An event as an app sends it (docs/reference/wire.md#events), from the parts it was checked in.

export interface OutgoingEvent {
  readonly callerId: string | null;
  readonly name: string;
  /** JSON text. */
  readonly data: string;
  /** Null leaves it to the server's clock: an app whose clock is ahead would delay its own runs. */
  readonly ts: number | null;
  /** JSON text of an object, or null. */
  readonly extra: string | null;
}

/** Asks an Idem server to answer with what it decided. */
export const decisionsHeader = "x-idem-decisions";
/** The ids of the events stay taken for this long, as a duration. */
export const windowHeader = "x-idem-window";
/** The run whose step sends the events. */
export const sourceRunHeader = "x-idem-source-run";

/** The events are deliveries of webhooks, whose signatures the app checked: believed with a signing key only. */
export const deliveryHeader = "x-idem-delivery";
/** The value of the header for a receiver that lets others send under its names. */
export const sharedDelivery = "shared";

export function writeEvent({ callerId, name, data, ts, extra }: OutgoingEvent): string {
  const rest = extra === null || extra === "{}" ? "" : `,${extra.slice(1, -1)}`;
  const id = callerId === null ? "" : `,"id":${JSON.stringify(callerId)}`;
  const at = ts === null ? "" : `,"ts":${ts}`;
  return `{"name":${JSON.stringify(name)}${id}${at},"data":${data}${rest}}`;
}
