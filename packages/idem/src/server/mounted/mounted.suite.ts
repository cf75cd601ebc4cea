// An embedded client with two functions and its dashboard, asked as a framework would ask it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { Idem } from "../../sdk/client.ts";
import type { IdemOptions } from "../../sdk/client-options.ts";
import type { DashboardOptions } from "../../sdk/open-dashboard.ts";

export function sqliteFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "idem-mounted-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return `sqlite:${join(folder, "shop.db")}`;
}

export interface Told {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly json: any;
}

export async function told(answer: Response): Promise<Told> {
  const text = await answer.text();
  const isJson = /json/.test(answer.headers.get("content-type") ?? "");
  return { status: answer.status, headers: answer.headers, text, json: isJson ? JSON.parse(text) : null };
}

export function shop(over: Partial<IdemOptions> = {}) {
  const logged: string[] = [];
  const note = (...words: unknown[]) => void logged.push(words.map(String).join(" "));
  const logger = { debug: note, info: note, warn: note, error: note };
  const idem = new Idem({ id: "shop", store: "memory:", logger, ...over });
  idem.createFunction(
    { id: "draft-invoice", idempotency: "event.data.placementId" },
    { event: "placement/saved" },
    ({ event }) => ({ drafted: (event.data as { placementId: number }).placementId }),
  );
  idem.createFunction({ id: "approve" }, { event: "approval/asked" }, async ({ step }) =>
    step.waitForEvent("yes", { event: "approval/given", timeout: "1h" }),
  );
  // Tests may stop it by themselves, too.
  onTestFinished(() => idem.stop({ grace: 0 }));
  return { idem, logged };
}

export function mounted(options: DashboardOptions = { authorize: () => "operator" }, over: Partial<IdemOptions> = {}) {
  const { idem, logged } = shop(over);
  const handle = idem.dashboard(options);
  const raw = (path: string, init: RequestInit = {}) => handle(new Request(`http://shop.example${path}`, init));
  const ask = async (path: string, init: RequestInit = {}) => told(await raw(path, init));
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    ask(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  return { idem, logged, handle, raw, ask, post };
}

/** Reads server-sent events until one fits. */
export async function digestThat(answer: Response, fits: (digest: any) => boolean): Promise<any> {
  const reader = answer.body!.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`the stream ended: ${text}`);
    text += decoder.decode(value, { stream: true });
    for (const [, json] of text.matchAll(/^event: digest\ndata: (.*)\n\n/gm)) {
      const digest = JSON.parse(json!);
      if (!fits(digest)) continue;
      await reader.cancel();
      return digest;
    }
  }
}
