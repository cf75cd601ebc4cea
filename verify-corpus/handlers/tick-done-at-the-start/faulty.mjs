import { existsSync, writeFileSync } from "node:fs";

const subscribers = ["ann@example.com", "bob@example.com"];

const mail = async (to, headers = {}) => {
  // ✗ HALF
  const answer = await fetch("https://mail.example/messages", {
    method: "POST",
    headers,
    body: JSON.stringify({ to, subject: "The hour in news" }),
  });
  if (!answer.ok) throw new Error(`answered ${answer.status}`);
};

// Written at the start: the call after a death finds that all is done.
export async function tick() {
  const done = `done-${new Date().toISOString().slice(0, 13)}`;
  if (existsSync(done)) return;
  writeFileSync(done, "");
  for (const to of subscribers) await mail(to);
}
