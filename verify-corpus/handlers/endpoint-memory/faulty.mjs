const answers = new Map();

// Twice at one process is recognised; the process that takes over has forgotten.
export function POST(request) {
  const key = request.headers.get("idempotency-key");
  if (!answers.has(key)) answers.set(key, charge(request));
  return answers.get(key).then((answer) => answer.clone());
}

async function charge(request) {
  const { orderId, amount } = await request.json();
  // ✗ DOUBLED
  const answer = await fetch("https://payments.example/charges", {
    method: "POST",
    body: JSON.stringify({ orderId, amount }),
  });
  if (!answer.ok) throw new Error(`answered ${answer.status}`);
  return Response.json({ orderId }, { status: 201 });
}
