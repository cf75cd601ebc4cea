// The way over sockets, for what calls in process leave out: Express in a process of its own, asked over kept connections.
import { fork } from "node:child_process";
import { once } from "node:events";
import { Agent, request as httpRequest } from "node:http";
import { fileURLToPath } from "node:url";
import { payload, type Told } from "./charges.ts";
import { sessions } from "./database.ts";
import { type Figure, freshKeys, take, type Window } from "./take.ts";

export async function takeExpress(url: string, window: Window): Promise<Record<string, Figure>> {
  const app = fork(fileURLToPath(new URL("./express-app.js", import.meta.url)), [url], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const agent = new Agent({ keepAlive: true, maxSockets: sessions });
  try {
    const [{ port }] = (await Promise.race([once(app, "message"), ended(app)])) as [{ port: number }];
    const key = freshKeys("express");
    const post = (path: string, key: string, told: Told | null) => posted(agent, port, path, key, told);
    const alone = await take(sessions, window, () => post("/bare", "any", null));
    const fresh = await take(sessions, window, () => post("/charges", key(), "executed"));
    await post("/charges", "hot", "executed");
    const hot = await take(sessions, window, () => post("/charges", "hot", "replayed"));
    const many = `-${sessions}`;
    return { [`express-alone${many}`]: alone, [`express-fresh${many}`]: fresh, [`express-hot${many}`]: hot };
  } finally {
    agent.destroy();
    if (app.connected) app.disconnect();
  }
}

async function ended(app: ReturnType<typeof fork>): Promise<never> {
  const [code] = (await once(app, "exit")) as [number | null];
  throw new Error(`the app behind Express ended with ${code}`);
}

function posted(agent: Agent, port: number, path: string, key: string, told: Told | null): Promise<void> {
  const headers = { "content-type": "application/json", "idempotency-key": key, "x-account": "acct_1" };
  return new Promise((resolve, reject) => {
    const asked = httpRequest({ agent, host: "127.0.0.1", port, path, method: "POST", headers }, (response) => {
      response.resume();
      response.once("error", reject);
      response.once("end", () => {
        const status = response.headers["idempotency-status"] ?? null;
        if (response.statusCode === 201 && status === told) resolve();
        else reject(new Error(`${told} was expected over Express, and ${response.statusCode} ${status} came back`));
      });
    });
    asked.once("error", reject);
    asked.end(payload);
  });
}
