/**
 * Webhooks: verified first, then claimed and kept in one commit, then answered, then processed. Delivered twice, it happens once.
 *
 * ```ts
 * const receive = webhook({ source: "stripe", provider: stripe({ secrets: [secret] }), idem });
 * app.post("/webhooks/stripe", nodeWebhook(receive)); // before express.json()
 * ```
 */

export {
  type BullhornBatch,
  type BullhornClient,
  type BullhornEvent,
  bullhornCoalesce,
} from "./toolkit/webhooks/bullhorn/bullhorn-event.ts";
export {
  type BullhornPoller,
  type BullhornPollerOptions,
  bullhornPoller,
  type PullAnswer,
} from "./toolkit/webhooks/bullhorn/bullhorn-poller.ts";
export type { Pulled } from "./toolkit/webhooks/bullhorn/pull-events.ts";
export { type CoalesceOptions, type Merged, strongest } from "./toolkit/webhooks/coalesce.ts";
export type { LogicalData } from "./toolkit/webhooks/coalesce-in-engine.ts";
export type { Transform, TransformedEvent } from "./toolkit/webhooks/keep-in-engine.ts";
export { type NodeWebhook, nodeWebhook } from "./toolkit/webhooks/node-webhook.ts";
export {
  type ProcessContext,
  type ProcessedEvent,
  type ProcessorOptions,
  type WebhookProcessor,
  webhookProcessor,
} from "./toolkit/webhooks/processor.ts";
export type {
  Delivery,
  Particulars,
  ProviderOptions,
  TimedProviderOptions,
  Verification,
  WebhookProvider,
} from "./toolkit/webhooks/provider.ts";
export { type ProviderName, providerNamed, providerNames } from "./toolkit/webhooks/provider-named.ts";
export { type GenericHmacOptions, genericHmac } from "./toolkit/webhooks/providers/generic-hmac.ts";
export { github } from "./toolkit/webhooks/providers/github.ts";
export { linear } from "./toolkit/webhooks/providers/linear.ts";
export { paddle } from "./toolkit/webhooks/providers/paddle.ts";
export { shopify } from "./toolkit/webhooks/providers/shopify.ts";
export { slack } from "./toolkit/webhooks/providers/slack.ts";
export { clerk, resend, standardWebhooks, svix } from "./toolkit/webhooks/providers/standard-webhooks.ts";
export { stripe } from "./toolkit/webhooks/providers/stripe.ts";
export { type TwilioOptions, twilio } from "./toolkit/webhooks/providers/twilio.ts";
export type { WebhookNote, WebhookReceiver } from "./toolkit/webhooks/receive.ts";
export { type SignWebhookOptions, signWebhook } from "./toolkit/webhooks/sign-webhook.ts";
export {
  type DatabaseWebhookOptions,
  type EngineWebhookOptions,
  type WebhookOptions,
  webhook,
} from "./toolkit/webhooks/webhook.ts";
export type { Normalised, WebhookEvent } from "./toolkit/webhooks/webhook-event.ts";
export type { WaitingEvent } from "./toolkit/webhooks/webhook-rows.ts";
