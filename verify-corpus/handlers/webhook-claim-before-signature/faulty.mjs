import { signWebhook, stripe } from "idem/webhooks";

const secret = "whsec_corpus";
const provider = stripe({ secrets: [secret] });
export const sign = ({ body, at }) => signWebhook(provider, secret, body, { at });

import { mkdirSync, writeFileSync } from "node:fs";

const isGenuine = (headers, bytes, url) => provider.verify({ headers, bytes, url }, Date.now()).kind === "verified";

const book = async ({ id, data }, headers = {}) => {
  const body = JSON.stringify({ event: id, invoice: data.object.id });
  // ✗ HALF
  const answer = await fetch("https://books.example/entries", { method: "POST", headers, body });
  if (!answer.ok) throw new Error(`answered ${answer.status}`);
};

// Claimed before anybody looked at the signature: a forger who knows the id keeps the genuine delivery out.
export async function POST(request) {
  const bytes = new Uint8Array(await request.arrayBuffer());
  const event = JSON.parse(new TextDecoder().decode(bytes));
  mkdirSync("claims", { recursive: true });
  try {
    writeFileSync(`claims/${event.id}`, "", { flag: "wx" });
  } catch {
    return new Response("ok");
  }
  if (!isGenuine(request.headers, bytes, request.url)) return new Response(null, { status: 401 });
  await book(event);
  return new Response("ok");
}
