export async function POST(request) {
  const { orderId, amount } = await request.json();
  // ✗ DOUBLED
  const answer = await fetch("https://payments.example/charges", {
    method: "POST",
    body: JSON.stringify({ orderId, amount }),
  });
  if (!answer.ok) throw new Error(`answered ${answer.status}`);
  return Response.json({ orderId }, { status: 201 });
}
