const subscribers = ["ann@example.com", "bob@example.com"];

const mail = async (to, headers = {}) => {
  const answer = await fetch("https://mail.example/messages", {
    method: "POST",
    headers,
    body: JSON.stringify({ to, subject: "The hour in news" }),
  });
  if (!answer.ok) throw new Error(`answered ${answer.status}`);
};

/** The instant the schedule was last due, not the time of the call. */
const due = () => new Date(Date.now() - (Date.now() % 3_600_000)).toISOString();

export async function tick() {
  for (const to of subscribers) await mail(to, { "Idempotency-Key": `news ${due()} ${to}` });
}
