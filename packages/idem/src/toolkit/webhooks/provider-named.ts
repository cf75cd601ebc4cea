// Providers by name, for those who read the name from a command or a row.
import type { ProviderOptions, WebhookProvider } from "./provider.ts";
import { github } from "./providers/github.ts";
import { linear } from "./providers/linear.ts";
import { paddle } from "./providers/paddle.ts";
import { shopify } from "./providers/shopify.ts";
import { slack } from "./providers/slack.ts";
import { clerk, resend, standardWebhooks, svix } from "./providers/standard-webhooks.ts";
import { stripe } from "./providers/stripe.ts";
import { twilio } from "./providers/twilio.ts";

const byName = {
  stripe,
  github,
  slack,
  "standard-webhooks": standardWebhooks,
  svix,
  resend,
  clerk,
  shopify,
  twilio,
  linear,
  paddle,
} satisfies Record<string, (options: ProviderOptions) => WebhookProvider>;

export type ProviderName = keyof typeof byName;

export const providerNames = Object.keys(byName) as readonly ProviderName[];

export const providerNamed = (name: ProviderName, options: ProviderOptions): WebhookProvider => byName[name](options);
