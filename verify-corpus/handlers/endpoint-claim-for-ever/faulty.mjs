import { mkdirSync, writeFileSync } from "node:fs";

// Claimed before the work, and nobody ever takes the claim back: the process that dies in between leaves a key that is in flight for ever.
export async function POST(request) {
  const key = request.headers.get("idempotency-key");
  mkdirSync("claims", { recursive: true });
  try {
    writeFileSync(`claims/${key}`, "claimed", { flag: "wx" });
  } catch {
    return new Response("in flight", { status: 409 });
  }
  const { orderId, amount } = await request.json();
  // ✗ HALF
  const answer = await fetch("https://payments.example/charges", {
    method: "POST",
    body: JSON.stringify({ orderId, amount }),
  });
  if (!answer.ok) throw new Error(`answered ${answer.status}`);
  return Response.json({ orderId }, { status: 201 });
}
