// A customer's browser. The key came with the page, so every click and every retry of it is the same request.
import { idempotentFetch } from "idem/http";

export async function clickPay({ url }, { id, customer, key }) {
  const answer = await idempotentFetch(`${url}/orders/${id}/pay`, {
    method: "POST",
    headers: { "content-type": "application/json", "x-customer": customer },
    body: JSON.stringify({ order: id }),
    key,
    attempts: 20,
  });
  return {
    status: answer.status,
    isReplay: answer.headers.get("idempotent-replayed") === "true",
    body: await answer.text(),
  };
}
