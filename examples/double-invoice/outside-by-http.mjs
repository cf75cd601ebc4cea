// Bullhorn, Stripe and the approval queue as a program reaches them, over HTTP. The acts play them in a folder; `idem verify` answers in their place.

async function ask(url, init) {
  const answer = await fetch(url, init);
  if (!answer.ok) throw new Error(`${new URL(url).host} answered ${answer.status}`);
  return answer.json();
}

const post = (url, body, key) =>
  ask(url, {
    method: "POST",
    headers: { "content-type": "application/json", "Idempotency-Key": key },
    body: JSON.stringify(body),
  });

export const outsideByHttp = {
  bullhorn: { placements: { get: (id) => ask(`https://rest.bullhorn.example/placements/${id}`) } },
  stripe: {
    invoices: {
      create: (invoice, { idempotencyKey }) => post("https://api.stripe.com/v1/invoices", invoice, idempotencyKey),
      send: (id, { idempotencyKey }) => post(`https://api.stripe.com/v1/invoices/${id}/send`, {}, idempotencyKey),
      void: (id, { idempotencyKey }) => post(`https://api.stripe.com/v1/invoices/${id}/void`, {}, idempotencyKey),
    },
  },
  approvals: { insert: (row, { uniqueKey }) => post("https://approvals.agency.example/entries", row, uniqueKey) },
};
