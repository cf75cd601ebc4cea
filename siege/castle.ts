// The processes: `idem start` as it was built, an honest app, the attackers. All of them end with this one.
import { type ChildProcess, spawn } from "node:child_process";
import { createHash, createHmac } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { AttackOrder, Tally } from "./attackers.ts";
import { ask, pause } from "./line.ts";
import { appPath, formSource, source, type Target } from "./target.ts";

const root = join(dirname(fileURLToPath(import.meta.url)), basedOn());
const bin = join(root, "packages", "idem", "bin", "idem.mjs");
const built = join(root, "siege", "dist");
// Honest callers report a loop that is held for longer.
const collectMsMax = 30_000;
// Each process under attack collects its garbage on request.
const collecting = ["--expose-gc", "--import", pathToFileURL(join(built, "collect.js")).href];

/** From the sources (in tests) and from what was built of them. */
function basedOn(): string {
  return import.meta.url.includes("/siege/dist/") ? "../.." : "..";
}

// Variables of the machine's own must not decide which server an app belongs to.
const surroundings = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(INNGEST|IDEM)_/.test(name)),
) as Record<string, string>;

const startMsMax = 60_000;

export interface Castle {
  readonly target: Target;
  /** Called with the number of each run that was executed. */
  onRan: (n: number) => void;
  attack(order: Omit<AttackOrder, "target">): Promise<Tally>;
  /** Resident memory, in bytes. */
  memory(): { readonly server: number; readonly app: number };
  /** The same after both have collected their garbage: what they keep. */
  memoryKept(): Promise<{ readonly server: number; readonly app: number }>;
  /** Null while it runs. */
  readonly ended: string | null;
  close(): void;
}

export async function openCastle(): Promise<Castle> {
  const folder = mkdtempSync(join(tmpdir(), "idem-siege-"));
  const children: ChildProcess[] = [];
  const start = (args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess => {
    const child = spawn(process.execPath, args, {
      cwd: folder,
      env: { ...surroundings, ...env, NO_COLOR: "1" },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    children.push(child);
    return child;
  };
  const close = () => {
    for (const child of children) child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    let made = 0;
    // Words repeat themselves, and a secret must not.
    const secret = () => createHash("sha256").update(`secret ${++made}`).digest("hex");
    const [eventKey, publicEventKey, password, viewerPassword] = [secret(), secret(), secret(), secret()];
    const signingKey = `signkey-prod-${secret()}`;
    const otherSigningKey = `signkey-prod-${secret()}`;
    const keep = secrets(eventKey, publicEventKey, `${signingKey},other=${otherSigningKey}`, password, viewerPassword);
    const serverChild = start([...collecting, bin, "start", "--port", "0", "--allow-host", "127.0.0.1"], keep);
    const said = transcript(serverChild);
    const server = await found(said, /listens +(http:\S+)/, serverChild);
    // Node 20 has the WebSocket of connect() behind a flag.
    const flags = "WebSocket" in globalThis ? {} : { NODE_OPTIONS: "--experimental-websocket --no-warnings" };
    const appChild = start([...collecting, join(built, "app.js")], {
      ...flags,
      SIEGE_SERVER: server,
      SIEGE_EVENT_KEY: eventKey,
      SIEGE_SIGNING_KEY: signingKey,
    });
    const appSaid = transcript(appChild);
    const castle: { onRan: (n: number) => void } = { onRan: () => {} };
    const app = await new Promise<string>((resolve, reject) => {
      appChild.on("message", (message: { port?: number; ran?: number }) => {
        if (message.port !== undefined) resolve(`http://127.0.0.1:${message.port}`);
        if (message.ran !== undefined) castle.onRan(message.ran);
      });
      appChild.once("exit", () => reject(new Error(`the app ended:\n${appSaid()}`)));
    });
    const bearer = { authorization: `Bearer ${signingKey}`, "content-type": "application/json" };
    const post = async (path: string, headers: Readonly<Record<string, string>>, value: unknown) => {
      const answer = await ask(`${server}${path}`, { method: "POST", headers, body: JSON.stringify(value) });
      if (typeof answer.reaction !== "number" || answer.reaction >= 300) {
        throw new Error(`POST ${path} was answered with ${answer.reaction}: ${answer.text}`);
      }
      return answer;
    };
    await post("/api/apps", bearer, { url: `${app}${appPath}` });
    const webhookSecret = `whsec_${secret()}`;
    await post("/api/webhooks", bearer, { name: source, provider: "stripe", secret: webhookSecret });
    const topics = [{ channel: "siege", name: "news", kind: "run" }];
    const { text: minted } = await post("/v1/realtime/token", bearer, topics);
    await post("/api/webhooks", bearer, { name: formSource, provider: "twilio", secret: secret() });
    const signIn = async (word: string) => {
      const { headers } = await post("/api/session", { "content-type": "application/json" }, { password: word });
      return String(headers["set-cookie"]).split(";")[0]!;
    };
    const target: Target = {
      server,
      app,
      eventKey,
      publicEventKey,
      signingKey,
      otherSigningKey,
      realtimeToken: (JSON.parse(minted) as { jwt: string }).jwt,
      webhookSecret,
      operator: await signIn(password),
      viewer: await signIn(viewerPassword),
      viewerPassword,
    };
    const attackers = start([join(built, "attackers.js")], {});
    const attackersSaid = transcript(attackers);
    await new Promise<void>((resolve, reject) => {
      attackers.once("message", () => resolve());
      attackers.once("exit", () => reject(new Error(`the attackers ended:\n${attackersSaid()}`)));
    });
    const memory = () => ({ server: rssOf(serverChild), app: rssOf(appChild) });
    return Object.assign(castle, {
      target,
      attack: (order: Omit<AttackOrder, "target">) =>
        new Promise<Tally>((resolve, reject) => {
          const leave = () => reject(new Error(`the attackers ended:\n${attackersSaid()}`));
          attackers.once("exit", leave);
          attackers.once("message", (tally: Tally) => {
            attackers.off("exit", leave);
            resolve(tally);
          });
          attackers.send({ target, ...order });
        }),
      memory,
      memoryKept: async () => {
        await Promise.all([collected(serverChild), collected(appChild)]);
        return memory();
      },
      get ended() {
        if (serverChild.exitCode !== null || serverChild.signalCode !== null) return `the server ended:\n${said()}`;
        if (appChild.exitCode !== null || appChild.signalCode !== null) return `the app ended:\n${appSaid()}`;
        return null;
      },
      close,
    });
  } catch (error) {
    close();
    throw error;
  }
}

const secrets = (
  eventKey: string,
  publicEventKey: string,
  signingKeys: string,
  password: string,
  viewerPassword: string,
): Record<string, string> => ({
  IDEM_EVENT_KEY: `${eventKey},${publicEventKey}`,
  IDEM_SIGNING_KEY: signingKeys,
  IDEM_PASSWORD: password,
  IDEM_VIEWER_PASSWORD: viewerPassword,
});

/** Resolves when it has, has ended, or does not come to it. */
const collected = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, collectMsMax).unref();
    child.on("message", function listen(message: { collected?: true }) {
      if (message.collected === undefined) return;
      child.off("message", listen);
      resolve();
    });
    child.once("exit", () => resolve());
    child.send("collect", (error) => error && resolve());
  });

/** The last of what a process wrote. */
function transcript(child: ChildProcess): () => string {
  let text = "";
  for (const stream of [child.stdout!, child.stderr!]) {
    stream.on("data", (chunk) => {
      text = (text + chunk).slice(-5_000);
    });
  }
  return () => text;
}

async function found(said: () => string, pattern: RegExp, child: ChildProcess): Promise<string> {
  for (const since = Date.now(); Date.now() - since < startMsMax; await pause(20)) {
    const [, text] = pattern.exec(said()) ?? [];
    if (text !== undefined) return text;
    if (child.exitCode !== null) break;
  }
  throw new Error(`the server did not start:\n${said()}`);
}

/** 0 where there is no /proc: memory is then neither shown nor judged. */
function rssOf({ pid }: ChildProcess): number {
  try {
    return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) * 1_024;
  } catch {
    return 0;
  }
}

/** As Stripe would send it. */
export function stripeSignature(secret: string, body: string): string {
  const t = Math.floor(Date.now() / 1_000);
  return `t=${t},v1=${createHmac("sha256", secret).update(`${t}.${body}`).digest("hex")}`;
}
