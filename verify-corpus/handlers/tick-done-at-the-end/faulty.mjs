import { existsSync, writeFileSync } from "node:fs";

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

// Written at the end: the second call comes before it, and so does the one after a death.
export async function tick() {
  const done = `done-${new Date().toISOString().slice(0, 13)}`;
  if (existsSync(done)) return;
  for (const to of subscribers) await mail(to);
  writeFileSync(done, "");
}
