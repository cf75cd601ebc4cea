import { Idem } from "idem";
import { ANONYMOUS_SHARED, engineKeys, idempotency } from "idem/http";

const keys = idempotency({ keys: engineKeys(new Idem({ id: "shop" })), principal: ANONYMOUS_SHARED });

export const POST = keys.handler({ onCrash: "rerun" }, async (request, { destinationKey }) => {
  const { orderId, amount } = (await request.json()) as { orderId: string; amount: number };
  const answer = await fetch("https://payments.example/charges", {
    method: "POST",
    headers: { "Idempotency-Key": destinationKey("charge") },
    body: JSON.stringify({ orderId, amount }),
  });
  if (!answer.ok) throw new Error(`answered ${answer.status}`);
  return Response.json({ orderId }, { status: 201 });
});
