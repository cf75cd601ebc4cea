// The corpus of handlers: endpoints behind a key, receivers of webhooks and ticks, in pairs as everything here. A folder's name says which of them it is.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = join(dirname(fileURLToPath(import.meta.url)), "handlers");

const request = {
  url: "https://shop.example/charges",
  headers: { "Idempotency-Key": "k1" },
  body: { orderId: "7", customer: "c3", amount: 20 },
};
const paid = { id: "evt_1", type: "invoice.paid", created: 1, data: { object: { id: "in_7", status: "paid" } } };
const delivery = { url: "https://shop.example/webhooks/stripe", body: paid, sign: { export: "sign" } };
/** What a pair needs besides. */
const besides = {
  "webhook-second-name": { otherName: { body: { ...paid, id: "evt_2", type: "invoice.updated" } } },
  "webhook-out-of-order": {
    next: { body: { ...paid, id: "evt_3", created: 2, data: { object: { id: "in_7", status: "refunded" } } } },
  },
};

export const handlerPairs = () =>
  readdirSync(folder).map((name) => {
    const lines = readFileSync(join(folder, name, "faulty.mjs"), "utf8").split("\n");
    const at = lines.findIndex((line) => line.includes("// ✗ "));
    return { name, expected: { verdict: lines[at].split("✗ ")[1].trim(), line: at + 2 } };
  });

/** Whether it was found: with its line, where a line did it. */
export const isFound = (report, { verdict, line }) =>
  report.functions[0].findings.some((each) => each.verdict === verdict && (each.place ?? { line }).line === line);

/** One half of a pair, by the functions of `idem/verify`. */
export function verifyHalf({ verifyEndpoint, verifyWebhook, verifyTick }, name, half, options = {}) {
  const module = join(folder, name, `${half}.mjs`);
  const given = { ...besides[name], cwd: folder, ...options };
  if (name.startsWith("endpoint-")) return verifyEndpoint({ module, export: "POST" }, request, given);
  if (name.startsWith("webhook-")) return verifyWebhook({ module, export: "POST" }, delivery, given);
  return verifyTick({ module, export: "tick" }, { cron: "0 * * * *", ...given });
}
