// The destination recognises repeats, by a key that is the customer's: another order of the same customer is taken for the first.
export async function POST(request) {
  const { orderId, customer, amount } = await request.json();
  // ✗ LOST
  const answer = await fetch("https://payments.example/charges", {
    method: "POST",
    headers: { "Idempotency-Key": customer },
    body: JSON.stringify({ orderId, customer, amount }),
  });
  if (!answer.ok) throw new Error(`answered ${answer.status}`);
  return Response.json({ orderId }, { status: 201 });
}
