// `verifyWebhook`: a receiver, and the provider that delivers to it: at once, later, out of order, under a second name; and a stranger.
import { type KnownOptions, refuseUnknown } from "../model/known-options.ts";
import type { ProviderName } from "../toolkit/webhooks/provider-named.ts";
import type { SentCall, Signing } from "../verify/calls/call-script.ts";
import { firstStart, secondStart } from "../verify/function-script.ts";
import type { Json } from "../verify/thing.ts";
import { idFields, withAnother } from "../verify/twin.ts";
import type { HeldReport } from "./held-report.ts";
import { pathOf, type WorldOptions } from "./verify.ts";
import { toData } from "./verify-endpoint.ts";
import { type ExportedHandler, readRequest, verifyHandler } from "./verify-handler.ts";

/** The signature of deliveries, each made when it leaves. */
export type DeliverySigning =
  /** As the provider does. The secret is the one the receiver has in the test's environment. */
  | { readonly provider: ProviderName; readonly secret: string }
  /** By a function of a module's, `({ body, at }) => headers`; by default the receiver's own module. */
  | { readonly module?: string | URL; readonly export: string };

/** The parts in which deliveries differ. */
export interface DeliveryParts {
  /** Text as it is; anything else as JSON. */
  readonly body?: unknown;
  /** The delivery's id, where it travels in a header. */
  readonly id?: string;
  /** The delivery's type, where it travels in a header. */
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface WebhookDelivery extends DeliveryParts {
  readonly url?: string;
  readonly method?: string;
  /** Without it the headers are sent as they are, each time. */
  readonly sign?: DeliverySigning;
}

export interface VerifyWebhookOptions extends WorldOptions {
  /** Another event, about another thing, where it cannot be made from the delivery; it has to take effect. */
  readonly twin?: DeliveryParts;
  /** The same event under a second name or id, as it would come: it must not take effect again. */
  readonly otherName?: DeliveryParts;
  /** A newer event about the same thing: with the older one after it, the end must be the same. */
  readonly next?: DeliveryParts;
}

const known: KnownOptions<VerifyWebhookOptions> = {
  twin: true,
  otherName: true,
  next: true,
  fixtures: true,
  accept: true,
  seed: true,
  schedule: true,
  cwd: true,
};

/**
 * If the provider delivers this again, does it happen once? At the same moment, at two processes, a minute and two days later, after each death; and does
 * another event take effect, and one with a bad signature none, not even on the genuine one after it? Functions that the delivery starts belong to it.
 *
 * ```ts
 * const receive = { module: "src/stripe.ts", export: "POST" };
 * const body = { id: "evt_1", type: "invoice.paid", data: { object: { id: "in_7" } } };
 * const sign = { provider: "stripe", secret: process.env.STRIPE_WEBHOOK_SECRET } as const;
 * (await verifyWebhook(receive, { body, sign })).assertHeld();
 * ```
 */
export async function verifyWebhook(
  receiver: ExportedHandler,
  delivery: WebhookDelivery,
  options: VerifyWebhookOptions = {},
): Promise<HeldReport> {
  refuseUnknown<VerifyWebhookOptions>("verifyWebhook", options, known);
  refuseUnknown<WebhookDelivery>("verifyWebhook, delivery", delivery, {
    body: true,
    id: true,
    type: true,
    headers: true,
    url: true,
    method: true,
    sign: true,
  });
  const { url = "https://localhost/webhooks", method = "POST", sign, id: deliveryId = "msg_1" } = delivery;
  const path = `${method} ${new URL(url, "https://localhost").pathname}`;
  const call = async (what: string, parts: DeliveryParts): Promise<SentCall> => {
    const { body = delivery.body, headers = delivery.headers ?? {}, id = deliveryId, type = delivery.type } = parts;
    const { data: _, ...sent } = await readRequest({ url, method, headers, body });
    return { ...sent, what: `${path}${what}`, signing: signingOf(receiver, sign, id, type ?? null) };
  };
  const { data } = await readRequest({ url, method, body: delivery.body });
  const fields = idFields(data);
  const first = await call("", {});
  const isSigned = sign !== undefined || first.headers.some(([name]) => /signature|hmac/i.test(name));
  // Under a signature that was made for other bytes it would be refused, and rightly.
  const canMake = fields.length > 0 && (sign !== undefined || !isSigned);
  const made = canMake ? { body: otherThing(data, fields), id: `${deliveryId}-twin` } : null;
  const twin = options.twin ?? made;
  const { otherName, next } = options;
  const calls: Record<string, SentCall> = {
    first,
    ...(twin === null ? {} : { twin: await call(" about another thing", partsOf(twin)) }),
    ...(otherName === undefined ? {} : { "other-name": await call(" under another name", partsOf(otherName)) }),
    ...(next === undefined ? {} : { next: await call(", a newer one", partsOf(next)) }),
    ...(isSigned ? { spoilt: { ...(await call(" with a bad signature", {})), isOnce: true, isSpoilt: true } } : {}),
  };
  const noTwin =
    twin === null
      ? "no other event could be made of the body, so nobody knows whether it would take effect: give another one (twin), or say how deliveries are signed (sign)"
      : null;
  const modules = sign !== undefined && "module" in sign && sign.module !== undefined ? [pathOf(sign.module)] : [];
  return verifyHandler(
    {
      by: "verifyWebhook",
      id: path,
      handler: receiver,
      isPlain: false,
      sender: "provider",
      calls,
      modules,
      startsMs: [firstStart, secondStart],
      noTwin,
    },
    options,
  );
}

const partsOf = ({ body, ...rest }: DeliveryParts): DeliveryParts =>
  body === undefined ? rest : { ...rest, body: typeof body === "string" ? body : toData(body) };

/** Another event about other things: every id in it is another. */
const otherThing = (data: Json, fields: readonly string[]): Json =>
  fields.reduce((changed, field) => withAnother(changed, field), data);

function signingOf(
  { module }: ExportedHandler,
  sign: DeliverySigning | undefined,
  id: string,
  type: string | null,
): Signing | null {
  if (sign === undefined) return null;
  if ("provider" in sign) return { provider: sign.provider, secret: sign.secret, id, type };
  return { module: pathOf(sign.module ?? module), name: sign.export };
}
