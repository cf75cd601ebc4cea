const subscribers = ["ann@example.com", "bob@example.com"];

const mail = async (to, headers = {}) => {
  // ✗ DOUBLED
  const answer = await fetch("https://mail.example/messages", {
    method: "POST",
    headers,
    body: JSON.stringify({ to, subject: "The hour in news" }),
  });
  if (!answer.ok) throw new Error(`answered ${answer.status}`);
};

export async function tick() {
  for (const to of subscribers) await mail(to);
}
