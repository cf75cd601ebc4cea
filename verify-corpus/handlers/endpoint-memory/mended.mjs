import { Idem } from "idem";
import { ANONYMOUS_SHARED, engineKeys, idempotency } from "idem/http";

const idem = new Idem({ id: "corpus" });
const silent = { info() {}, warn() {}, error() {}, debug() {} };
const keys = idempotency({ keys: engineKeys(idem), principal: ANONYMOUS_SHARED, logger: silent });

// A person looks at what a death left open; nobody guesses.
export const POST = keys.handler({ onCrash: "park" }, async (request) => {
  const { orderId, amount } = await request.json();
  const answer = await fetch("https://payments.example/charges", {
    method: "POST",
    body: JSON.stringify({ orderId, amount }),
  });
  if (!answer.ok) throw new Error(`answered ${answer.status}`);
  return Response.json({ orderId }, { status: 201 });
});
