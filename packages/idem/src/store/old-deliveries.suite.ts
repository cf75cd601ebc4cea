// Events as stores had them before deliveries of webhooks got a scope of their own, and which of them were deliveries.

interface OldEvent {
  readonly id: string;
  readonly callerId: string;
  readonly name: string;
  readonly data: string;
  readonly extra: string | null;
  readonly isDelivery: boolean;
}

const event = (
  id: string,
  callerId: string,
  name: string,
  isDelivery: boolean,
  over: Partial<OldEvent> = {},
): OldEvent => ({
  id,
  callerId,
  name,
  data: "{}",
  extra: null,
  isDelivery,
  ...over,
});

const meta = (source: string) => `{"meta":{"webhook":{"source":"${source}","id":"evt_1","type":"paid","digest":"d"}}}`;

export const oldEvents: readonly OldEvent[] = [
  event("kept", "stripe/live:evt_1", "stripe/live/paid", true, { extra: meta("stripe/live") }),
  event("quarantined", "erp:quarantined-ab12", "erp/quarantined", true),
  event("gathered", "erp:evt_2", "erp/received", true, { data: '{"coalesce":"h","key":"k"}' }),
  event("merged", "erp:logical-h-7.0", "erp/paid", true, { data: '{"type":"paid","carries":["evt_2"]}' }),
  event("pulled", "bullhorn:request-7", "bullhorn/pulled", true),
  event("pulling", "bullhorn:puller", "bullhorn/pulling", true),
  event("plain", "order-7", "order/paid", false),
  event("with a colon", "erp:evt_3", "erp/paid", false),
  event("forged", "erp:evt_4", "erp/paid", false, { extra: '{"meta":{"note":"\\u0000"}}' }),
  event("of another source", "erp:evt_5", "erp/paid", false, { extra: meta("stripe") }),
];
