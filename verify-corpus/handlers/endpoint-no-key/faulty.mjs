export async function POST(request) {
  const { orderId, amount } = await request.json();
  // ✗ DOUBLED
  await fetch("https://payments.example/charges", { method: "POST", body: JSON.stringify({ orderId, amount }) });
  return Response.json({ orderId }, { status: 201 });
}
