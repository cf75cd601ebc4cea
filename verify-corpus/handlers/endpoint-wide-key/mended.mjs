import { Idem } from "idem";
import { ANONYMOUS_SHARED, engineKeys, idempotency } from "idem/http";

const idem = new Idem({ id: "corpus" });
const silent = { info() {}, warn() {}, error() {}, debug() {} };
const keys = idempotency({ keys: engineKeys(idem), principal: ANONYMOUS_SHARED, logger: silent });

export const POST = keys.handler({ onCrash: "rerun" }, async (request, { destinationKey }) => {
  const { orderId, customer, amount } = await request.json();
  const answer = await fetch("https://payments.example/charges", {
    method: "POST",
    headers: { "Idempotency-Key": destinationKey("charge") },
    body: JSON.stringify({ orderId, customer, amount }),
  });
  if (!answer.ok) throw new Error(`answered ${answer.status}`);
  return Response.json({ orderId }, { status: 201 });
});
