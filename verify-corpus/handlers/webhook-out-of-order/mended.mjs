import { signWebhook, stripe } from "idem/webhooks";

const secret = "whsec_corpus";
const provider = stripe({ secrets: [secret] });
export const sign = ({ body, at }) => signWebhook(provider, secret, body, { at });

export async function POST(request) {
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (provider.verify({ headers: request.headers, bytes, url: request.url }, Date.now()).kind !== "verified")
    return new Response(null, { status: 401 });
  const { created, data } = JSON.parse(new TextDecoder().decode(bytes));
  const { id, status } = data.object;
  const url = `https://books.example/invoices/${id}`;
  const before = await fetch(url);
  // What is older than what is there has nothing to say.
  const known = before.ok ? ((await before.json()).created ?? 0) : 0;
  if (known >= created) return new Response("ok");
  const answer = await fetch(url, { method: "PUT", body: JSON.stringify({ status, created }) });
  return new Response(null, { status: answer.ok ? 200 : 503 });
}
