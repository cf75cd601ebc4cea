const subscribers = ["ann@example.com", "bob@example.com"];

const mail = async (to, headers = {}) => {
  // ✗ LOST
  const answer = await fetch("https://mail.example/messages", {
    method: "POST",
    headers,
    body: JSON.stringify({ to, subject: "The hour in news" }),
  });
  if (!answer.ok) throw new Error(`answered ${answer.status}`);
};

// A key that is the subscriber's: the next hour's mail is taken for this one's.
export async function tick() {
  for (const to of subscribers) await mail(to, { "Idempotency-Key": `news ${to}` });
}
