// The caller's key goes straight to the destination: repeats are recognised, and so is another request that reuses the key.
export async function POST(request) {
  const { orderId, amount } = await request.json();
  const answer = await fetch("https://payments.example/charges", {
    method: "POST",
    headers: { "Idempotency-Key": request.headers.get("idempotency-key") },
    body: JSON.stringify({ orderId, amount }),
  });
  if (!answer.ok) throw new Error(`answered ${answer.status}`);
  // ✗ LOST
  return Response.json({ orderId }, { status: 201 });
}
