// Systems that functions write to: how their SDKs are known, which calls make something new, and where a key goes. Facts of each provider's own documentation.

/** Where a provider takes a key: an option of the SDK's call, a field of its first argument, a header of a request; null for nowhere. */
export type KeyWay = { readonly in: "options" | "fields"; readonly name: string } | null;

export interface Provider {
  readonly name: string;
  /** Packages that are its SDK. */
  readonly modules: readonly (string | RegExp)[];
  /** Names of its client, where no import says. */
  readonly names: RegExp;
  /** Members of the client, joined by dots, that make something new each time. */
  readonly makes: RegExp;
  readonly key: KeyWay;
}

const option = { in: "options", name: "idempotencyKey" } as const;

export const providers: readonly Provider[] = [
  {
    name: "Stripe",
    modules: ["stripe"],
    names: /^stripe/i,
    makes: /^(?!webhooks\b|billingPortal\b).+\.(create\w*|pay|capture|confirm|sendInvoice|refund)$/,
    key: option,
  },
  {
    name: "Resend",
    modules: ["resend"],
    names: /^resend/i,
    makes: /^(emails\.(send|create)|batch\.(send|create)|broadcasts\.(send|create))$/,
    key: option,
  },
  {
    name: "Square",
    modules: ["square"],
    names: /^square/i,
    makes: /\.(create|createPayment|createOrder|createRefund|refundPayment|pay)$/,
    key: { in: "fields", name: "idempotencyKey" },
  },
  {
    name: "Adyen",
    modules: ["@adyen/api-library"],
    names: /^adyen/i,
    makes: /\b(payments|paymentLinks|sessions|captureAuthorisedPayment|refundCapturedPayment)$/,
    key: option,
  },
  {
    name: "PayPal",
    modules: [/^@paypal\//],
    names: /^paypal/i,
    makes: /\b(createOrder|captureOrder|ordersCreate|ordersCapture|authorizeOrder|refundCapturedPayment)$/,
    key: { in: "fields", name: "paypalRequestId" },
  },
  {
    name: "Slack",
    modules: [/^@slack\//],
    names: /^slack/i,
    makes: /\b(chat\.post\w+|files\.upload\w*|send)$/,
    key: null,
  },
  {
    name: "Twilio",
    modules: ["twilio"],
    names: /^twilio/i,
    makes: /\b(messages|calls|verifications)\.create$/,
    key: null,
  },
  {
    name: "SendGrid",
    modules: ["@sendgrid/mail"],
    names: /^(sgMail|sendgrid)/i,
    makes: /^(send|sendMultiple)$/,
    key: null,
  },
  { name: "Postmark", modules: ["postmark"], names: /^postmark/i, makes: /\bsend\w*Email\w*$/, key: null },
  {
    name: "Mailgun",
    modules: ["mailgun.js", "mailgun-js"],
    names: /^mailgun/i,
    makes: /\b(messages\.create|send)$/,
    key: null,
  },
  {
    name: "SMTP",
    modules: ["nodemailer"],
    names: /^(transport|transporter|mailer|nodemailer)$/i,
    makes: /\bsendMail$/,
    key: null,
  },
  { name: "GitHub", modules: [/^@octokit\//, "octokit"], names: /^octokit/i, makes: /\bcreate\w*$/, key: null },
  { name: "Linear", modules: ["@linear/sdk"], names: /^linear/i, makes: /\bcreate[A-Z]\w*$/, key: null },
  {
    name: "Notion",
    modules: ["@notionhq/client"],
    names: /^notion/i,
    makes: /\b(pages|databases|comments)\.create$/,
    key: null,
  },
  { name: "Discord", modules: ["discord.js"], names: /^discord/i, makes: /\bsend$/, key: null },
];

/** Models that are paid for each answer, and answer otherwise each time. */
export const models: readonly Pick<Provider, "modules" | "names" | "makes">[] = [
  { modules: ["openai"], names: /^openai/i, makes: /\b(create|parse|generate|edit|stream)$/ },
  { modules: ["@anthropic-ai/sdk"], names: /^anthropic/i, makes: /\b(messages|completions)\.(create|stream|parse)$/ },
  {
    modules: ["ai"],
    names: /^\b$/,
    makes: /^(generateText|generateObject|streamText|streamObject|embed|embedMany|generateImage)$/,
  },
  {
    modules: ["@google/generative-ai", "@google/genai"],
    names: /^(gemini|genAI)/i,
    makes: /\b(generateContent|embedContent)\w*$/,
  },
  { modules: ["replicate"], names: /^replicate/i, makes: /\b(run|create)$/ },
];

/** Commands of AWS that write, and the parameter that is the key where there is one. */
export const awsCommands: readonly { readonly name: RegExp; readonly key: string | null; readonly makes: boolean }[] = [
  { name: /^(SendMessage|SendMessageBatch|Publish|PublishBatch)Command$/, key: "MessageDeduplicationId", makes: true },
  { name: /^(SendEmail|SendTemplatedEmail|SendRawEmail|SendBulkEmail)Command$/, key: null, makes: true },
  { name: /^(RunInstances|CreateVolume|CreateFleet)Command$/, key: "ClientToken", makes: true },
  { name: /^(RunTask|CreateService)Command$/, key: "clientToken", makes: true },
  { name: /^StartExecutionCommand$/, key: "name", makes: true },
  { name: /^(CreateStack|UpdateStack)Command$/, key: "ClientRequestToken", makes: true },
  { name: /^(Put|Delete|Copy|Update|BatchWrite|TransactWrite)\w*Command$/, key: null, makes: false },
];

/** Hosts of APIs, and whether they take a key; a leading dot means whatever ends so. Compared with Idem's own table by a test. */
export const hosts: Readonly<Record<string, { readonly name: string; readonly takesKey: boolean }>> = {
  "api.stripe.com": { name: "Stripe", takesKey: true },
  "api.resend.com": { name: "Resend", takesKey: true },
  "connect.squareup.com": { name: "Square", takesKey: true },
  "connect.squareupsandbox.com": { name: "Square", takesKey: true },
  "api-m.paypal.com": { name: "PayPal", takesKey: true },
  "api-m.sandbox.paypal.com": { name: "PayPal", takesKey: true },
  "api.paypal.com": { name: "PayPal", takesKey: true },
  "api.sandbox.paypal.com": { name: "PayPal", takesKey: true },
  ".adyen.com": { name: "Adyen", takesKey: true },
  ".adyenpayments.com": { name: "Adyen", takesKey: true },
  "api.xero.com": { name: "Xero", takesKey: true },
  "api.checkout.com": { name: "Checkout.com", takesKey: true },
  "api.sandbox.checkout.com": { name: "Checkout.com", takesKey: true },
  ".api.checkout.com": { name: "Checkout.com", takesKey: true },
  ".api.sandbox.checkout.com": { name: "Checkout.com", takesKey: true },
  "api.truelayer.com": { name: "TrueLayer", takesKey: true },
  "api.truelayer-sandbox.com": { name: "TrueLayer", takesKey: true },
  "api.brevo.com": { name: "Brevo", takesKey: true },
  "api.us.nylas.com": { name: "Nylas", takesKey: true },
  "api.eu.nylas.com": { name: "Nylas", takesKey: true },
  "api.telnyx.com": { name: "Telnyx", takesKey: true },
  "thirdparty.qonto.com": { name: "Qonto", takesKey: true },
  "thirdparty-sandbox.staging.qonto.co": { name: "Qonto", takesKey: true },
  "api.postmarkapp.com": { name: "Postmark", takesKey: false },
  "api.sendgrid.com": { name: "SendGrid", takesKey: false },
  "api.eu.sendgrid.com": { name: "SendGrid", takesKey: false },
  ".twilio.com": { name: "Twilio", takesKey: false },
  "slack.com": { name: "Slack", takesKey: false },
  "hooks.slack.com": { name: "Slack", takesKey: false },
  "api.github.com": { name: "GitHub", takesKey: false },
};

/** Hosts whose POST is a question: asked twice it costs twice, and nothing is there twice. */
export const askedByPost =
  /(^|\.)(openai\.com|anthropic\.com|googleapis\.com|mistral\.ai|cohere\.(ai|com)|groq\.com|perplexity\.ai|together\.xyz|deepseek\.com|elevenlabs\.io|replicate\.com|voyageai\.com|huggingface\.co)$/;

export function hostNamed(host: string): { readonly name: string; readonly takesKey: boolean } | null {
  const known = hosts[host] ?? Object.entries(hosts).find(([end]) => end.startsWith(".") && host.endsWith(end))?.[1];
  return known ?? null;
}
