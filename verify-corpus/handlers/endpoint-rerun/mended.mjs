import { Idem } from "idem";
import { ANONYMOUS_SHARED, engineKeys, idempotency } from "idem/http";

const idem = new Idem({ id: "corpus" });
const silent = { info() {}, warn() {}, error() {}, debug() {} };
const keys = idempotency({ keys: engineKeys(idem), principal: ANONYMOUS_SHARED, logger: silent });

const send = async (url, key, body) => {
  const answer = await fetch(url, {
    method: "POST",
    headers: { "Idempotency-Key": key },
    body: JSON.stringify(body),
  });
  if (!answer.ok) throw new Error(`answered ${answer.status}`);
};

// A failure in the middle is gone on with by the next try: each part has its own key.
const store = ({ status }) => (status >= 500 ? "resume" : undefined);

export const POST = keys.handler({ onCrash: "rerun", store }, async (request, { destinationKey }) => {
  const { orderId, amount } = await request.json();
  await send("https://payments.example/charges", destinationKey("charge"), { orderId, amount });
  await send("https://mail.example/messages", destinationKey("receipt"), { orderId, kind: "receipt" });
  return Response.json({ orderId }, { status: 201 });
});
