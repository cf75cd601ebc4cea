import { signWebhook, stripe } from "idem/webhooks";

const secret = "whsec_corpus";
const provider = stripe({ secrets: [secret] });
export const sign = ({ body, at }) => signWebhook(provider, secret, body, { at });

// The last one to arrive counts, whenever it was sent.
export async function POST(request) {
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (provider.verify({ headers: request.headers, bytes, url: request.url }, Date.now()).kind !== "verified")
    return new Response(null, { status: 401 });
  const { created, data } = JSON.parse(new TextDecoder().decode(bytes));
  const { id, status } = data.object;
  // ✗ DOUBLED
  const answer = await fetch(`https://books.example/invoices/${id}`, {
    method: "PUT",
    body: JSON.stringify({ status, created }),
  });
  return new Response(null, { status: answer.ok ? 200 : 503 });
}
