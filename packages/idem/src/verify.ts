/**
 * For tests: if this ran twice, would there be two of something? What `idem verify` asks, asked of one client and its functions. The page is docs/verify.md.
 *
 * ```ts
 * import { verify } from "idem/verify";
 * import { idem } from "#functions";
 *
 * const event = { name: "crm/placement.made", data: { placementId: "7" } };
 * (await verify(idem, { function: "draft-invoice", event })).assertHeld();
 * ```
 */

export { type HeldReport, NotHeldError } from "./harness/held-report.ts";
export { type FixtureGiven, type VerifyOptions, verify, type WorldOptions } from "./harness/verify.ts";
export { type VerifyEndpointOptions, verifyEndpoint } from "./harness/verify-endpoint.ts";
export type { ExportedHandler, GivenRequest } from "./harness/verify-handler.ts";
export { type VerifyTickOptions, verifyTick } from "./harness/verify-tick.ts";
export {
  type DeliveryParts,
  type DeliverySigning,
  type VerifyWebhookOptions,
  verifyWebhook,
  type WebhookDelivery,
} from "./harness/verify-webhook.ts";
export type { Verdict } from "./model/verdict.ts";
export type { Edit, Finding, Mend, ShownFinding, VerifiedFunction, VerifyReport } from "./verify/report.ts";
export type { Moment, Place } from "./verify/thing.ts";
export type { Accepted } from "./verify/verify-memory.ts";
