import { signWebhook, stripe } from "idem/webhooks";

const secret = "whsec_corpus";
const provider = stripe({ secrets: [secret] });
export const sign = ({ body, at }) => signWebhook(provider, secret, body, { at });

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";

const isGenuine = (headers, bytes, url) => provider.verify({ headers, bytes, url }, Date.now()).kind === "verified";

const book = async ({ id, data }, headers = {}) => {
  const body = JSON.stringify({ event: id, invoice: data.object.id });
  // ✗ DOUBLED
  const answer = await fetch("https://books.example/entries", { method: "POST", headers, body });
  if (!answer.ok) throw new Error(`answered ${answer.status}`);
};

// Five minutes are for replay attacks; the provider delivers again for three days.
function wasSeen(id) {
  try {
    return Date.now() - Number(readFileSync(`seen/${id}`, "utf8")) < 5 * 60_000;
  } catch {
    return false;
  }
}

export async function POST(request) {
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (!isGenuine(request.headers, bytes, request.url)) return new Response(null, { status: 401 });
  const event = JSON.parse(new TextDecoder().decode(bytes));
  if (wasSeen(event.id)) return new Response("ok");
  await book(event);
  mkdirSync("seen", { recursive: true });
  writeFileSync(`seen/${event.id}`, String(Date.now()));
  return new Response("ok");
}
