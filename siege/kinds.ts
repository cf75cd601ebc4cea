// The kinds of attack, each at a pace one attacker can keep up and a server must bear. None needs more than the attacker has: nothing, an
// event key from a browser, a viewer's password.
import { createHash } from "node:crypto";
import type { Socket } from "node:net";
import { brotliCompressSync, gzipSync, constants as zlib } from "node:zlib";
import { ask, holdLine, pause, type Reaction } from "./line.ts";
import { appPath, type CapturedCall, capturedPath, formSource, keyedPath, source, type Target } from "./target.ts";

export interface Attack {
  readonly target: Target;
  /** False once the attack is over. */
  readonly isOn: () => boolean;
  readonly count: (reaction: Reaction) => void;
}

export interface Kind {
  readonly name: string;
  readonly about: string;
  /** An answer with a status below 300 is a success of the attack. */
  readonly isRefused?: true;
  run(attack: Attack): Promise<void>;
}

const mebibyte = 1024 * 1024;

/** So many at it side by side, each with a pause after each. */
async function keepAt(attack: Attack, width: number, pauseMs: number, one: () => Promise<Reaction>): Promise<void> {
  const attacker = async () => {
    while (attack.isOn()) {
      attack.count(await one());
      await pause(pauseMs);
    }
  };
  await Promise.all(Array.from({ length: width }, attacker));
}

/** So many lines at once; whatever is closed is opened again, half of them in a second at most. */
async function keepHeld(attack: Attack, width: number, url: string, bytes: () => string): Promise<void> {
  const held = new Set<Socket>();
  for (let most = width; attack.isOn(); most = width / 20) {
    for (let n = 0; n < most && held.size < width; n++) {
      const socket = holdLine(url, bytes(), (reaction) => {
        held.delete(socket);
        if (attack.isOn()) attack.count(reaction);
      });
      held.add(socket);
    }
    await pause(100);
  }
  for (const socket of held) {
    attack.count("held");
    socket.destroy();
  }
}

const lines = (...text: readonly string[]): string => `${text.join("\r\n")}\r\n\r\n`;
const upgrade = (path: string, ...more: readonly string[]): string =>
  lines(
    `GET ${path} HTTP/1.1`,
    "host: localhost",
    "connection: upgrade",
    "upgrade: websocket",
    "sec-websocket-version: 13",
    `sec-websocket-key: ${fresh().subarray(0, 16).toString("base64")}`,
    ...more,
  );

let made = 0;
/** Bytes that no request before had. */
const fresh = (): Buffer => createHash("sha256").update(`attack ${++made}`).digest();

const json = { "content-type": "application/json" };
const form = { "content-type": "application/x-www-form-urlencoded" };

/** Made when first asked for: the large ones take seconds. */
function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

interface Bomb {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const bombs = once((): readonly Bomb[] => {
  const pairs = Buffer.alloc(10 * mebibyte, "a&");
  const list = Buffer.concat([
    Buffer.from('{"name":"a","data":['),
    Buffer.alloc(8 * mebibyte, "0,"),
    Buffer.from("0]}"),
  ]);
  const spaces = Buffer.alloc(32 * mebibyte, " ");
  // The best takes seconds for a few bytes less.
  const brotli = (bytes: Buffer) => brotliCompressSync(bytes, { params: { [zlib.BROTLI_PARAM_QUALITY]: 5 } });
  const deep = Buffer.alloc(mebibyte, "[");
  const packed: readonly Bomb[] = [
    { headers: { ...form, "content-encoding": "br" }, body: brotli(pairs) },
    { headers: { ...json, "content-encoding": "br" }, body: brotli(list) },
    { headers: { ...json, "content-encoding": "gzip" }, body: gzipSync(spaces) },
    { headers: { ...json, "content-encoding": "gzip" }, body: gzipSync(deep) },
  ];
  const plain: readonly Bomb[] = [
    { headers: form, body: pairs.subarray(0, mebibyte - 1) },
    { headers: json, body: list.subarray(0, mebibyte - 1) },
  ];
  return [...packed, ...plain];
});

const large = once(() => Buffer.alloc(60 * mebibyte, '["a",'));

/** 1 + 10^5 calls of a function that fails, in 243 characters. */
const nested = (): string => {
  const ten = "[0,1,2,3,4,5,6,7,8,9]";
  const names = ["a", "b", "c", "d", "e"];
  return names.reduceRight((inner, name) => `${ten}.exists(${name},${inner})`, 'int("x")==1');
};

export const kinds: readonly Kind[] = [
  {
    name: "peace",
    about: "no attack: what the machine and the honest traffic cost by themselves",
    run: async (attack) => {
      while (attack.isOn()) await pause(50);
      attack.count("held");
    },
  },
  {
    name: "costly-expressions",
    about: "a viewer's filters over runs that cost much and fail late",
    run: (attack) => {
      const { server, viewer } = attack.target;
      const cel = encodeURIComponent(nested());
      let n = 0;
      return keepAt(attack, 2, 50, async () => {
        const path = n++ % 2 === 0 ? `/api/groups?group=function&cel=${cel}` : `/api/runs?cel=${cel}`;
        return (await ask(`${server}${path}`, { headers: { cookie: viewer } })).reaction;
      });
    },
  },
  {
    name: "looping-pages",
    about: "a viewer's twelve connections that ask for pages which look at as many rows as they may, without a pause",
    run: (attack) => {
      const { server, viewer, viewerPassword } = attack.target;
      const authorization = `Basic ${Buffer.from(`me:${viewerPassword}`).toString("base64")}`;
      const body = JSON.stringify({ input: [{ limit: 500, outcome: "duplicate", examinedMax: 50_000 }] });
      let n = 0;
      return keepAt(attack, 12, 0, async () => {
        if (n++ % 2 === 0) {
          const path = "/api/events?outcome=duplicate&limit=500";
          return (await ask(`${server}${path}`, { headers: { cookie: viewer } })).reaction;
        }
        const headers = { ...json, authorization };
        return (await ask(`${server}/api/store/eventPage`, { method: "POST", headers, body })).reaction;
      });
    },
  },
  {
    name: "event-streams",
    about: "2,000 event streams with one realtime token",
    run: async (attack) => {
      const { server, realtimeToken } = attack.target;
      const path = `/v1/realtime/sse?token=${realtimeToken}`;
      await keepHeld(attack, 2_000, server, () => lines(`GET ${path} HTTP/1.1`, "host: localhost"));
    },
  },
  {
    name: "live-pages",
    about: "400 live pages of one viewer",
    run: (attack) => {
      const { server, viewer } = attack.target;
      return keepHeld(attack, 400, server, () =>
        lines("GET /api/live HTTP/1.1", "host: localhost", `cookie: ${viewer}`),
      );
    },
  },
  {
    name: "examinations",
    about: "a key of one environment that has it examined over a year, again and again",
    run: (attack) => {
      const { server, otherSigningKey } = attack.target;
      const headers = { ...json, authorization: `Bearer ${otherSigningKey}` };
      return keepAt(attack, 2, 100, async () => {
        const body = JSON.stringify({ id: fresh().toString("hex").slice(0, 32), days: 366 });
        return (await ask(`${server}/api/doctor`, { method: "POST", headers, body })).reaction;
      });
    },
  },
  {
    name: "compressed-events",
    about: "bodies of a few bytes that become millions, to /e/:key",
    run: (attack) => {
      const { server, publicEventKey } = attack.target;
      let n = 0;
      return keepAt(attack, 4, 50, async () => {
        const bomb = bombs()[n++ % bombs().length]!;
        return (await ask(`${server}/e/${publicEventKey}`, { method: "POST", ...bomb })).reaction;
      });
    },
  },
  {
    name: "compressed-keyed",
    about: "the same to a route behind an Idempotency-Key",
    run: (attack) => {
      let n = 0;
      return keepAt(attack, 4, 50, async () => {
        const { headers, body } = bombs()[n++ % bombs().length]!;
        const keyed = { ...headers, "idempotency-key": fresh().toString("hex") };
        return (await ask(`${attack.target.app}${keyedPath}`, { method: "POST", headers: keyed, body })).reaction;
      });
    },
  },
  {
    name: "guesses",
    about: "wrong passwords, with a viewer's right one between them",
    run: (attack) => {
      const { server, viewerPassword } = attack.target;
      let n = 0;
      return keepAt(attack, 4, 20, async () => {
        const password = n++ % 4 === 3 ? viewerPassword : fresh().toString("hex");
        if (n % 3 === 0) {
          const authorization = `Basic ${Buffer.from(`me:${password}`).toString("base64")}`;
          return (await ask(`${server}/api/status`, { headers: { authorization } })).reaction;
        }
        const body = JSON.stringify({ password });
        return (await ask(`${server}/api/session`, { method: "POST", headers: json, body })).reaction;
      });
    },
  },
  {
    name: "replayed-calls",
    about: "calls of a served app that were captured: again, as another function, and as a sync to another host",
    isRefused: true,
    run: (attack) => {
      const { app } = attack.target;
      let n = 0;
      let calls: readonly CapturedCall[] = [];
      return keepAt(attack, 4, 20, async () => {
        if (n % 20 === 0 || calls.length === 0) {
          calls = JSON.parse((await ask(`${app}${capturedPath}`, {})).text) as CapturedCall[];
        }
        const call = calls[n++ % Math.max(1, calls.length)];
        if (call === undefined) return "held";
        const headers = { ...json, "x-inngest-signature": call.signature };
        const query = n % 3 === 0 ? call.query.replace("siege-served", "siege-other") : call.query;
        const moved = { method: "PUT", headers: { ...headers, host: "attacker.example" }, body: call.body };
        const again = { method: "POST", headers, body: call.body };
        return (await ask(`${app}${appPath}${query}`, n % 3 === 1 ? moved : again)).reaction;
      });
    },
  },
  {
    name: "slow-bodies",
    about: "500 calls of a served app with a forged signature, whose bodies are begun and never end",
    isRefused: true,
    run: (attack) =>
      keepHeld(
        attack,
        500,
        attack.target.app,
        () =>
          `${lines(
            `POST ${appPath}?fnId=siege-served&stepId=step HTTP/1.1`,
            "host: localhost",
            "content-type: application/json",
            `x-inngest-signature: t=${Math.floor(Date.now() / 1_000)}&s=${fresh().toString("hex")}`,
            "content-length: 1000",
          )}{"event":`,
      ),
  },
  {
    name: "unsigned-calls",
    isRefused: true,
    about: "calls of a served app without a signature, or with a forged one, as a web page can make them",
    run: (attack) => {
      let n = 0;
      return keepAt(attack, 4, 20, async () => {
        const forged = { "x-inngest-signature": `t=${Math.floor(Date.now() / 1_000)}&s=${"ab".repeat(32)}` };
        const headers = { "content-type": "text/plain", ...(n++ % 2 === 0 ? {} : forged) };
        const body = JSON.stringify({
          event: { name: "siege/served", data: { n: -1 } },
          events: [],
          steps: {},
          ctx: {},
        });
        const url = `${attack.target.app}${appPath}?fnId=siege-served&stepId=step`;
        return (await ask(url, { method: "POST", headers, body })).reaction;
      });
    },
  },
  {
    name: "large-bodies",
    about: "60 MB to a served app, to /e/:key, to a webhook and to a route behind a key",
    run: (attack) => {
      const { server, app, publicEventKey } = attack.target;
      const signature = { "x-inngest-signature": `t=${Math.floor(Date.now() / 1_000)}&s=${"ab".repeat(32)}` };
      const places = [
        { url: `${app}${appPath}?fnId=siege-served&stepId=step`, headers: { ...json, ...signature } },
        { url: `${server}/e/${publicEventKey}`, headers: json },
        { url: `${server}/w/${source}`, headers: json },
        { url: `${app}${keyedPath}`, headers: { ...json, "idempotency-key": "large" } },
      ];
      let n = 0;
      return keepAt(attack, 2, 200, async () => {
        const { url, headers } = places[n++ % places.length]!;
        return (await ask(url, { method: "POST", headers, body: large() })).reaction;
      });
    },
  },
  {
    name: "silent-bodies",
    about: "2,001 bodies that are announced and never sent",
    run: (attack) => {
      const { server, publicEventKey } = attack.target;
      let n = 0;
      const paths = [`/w/${source}`, "/api/session", `/e/${publicEventKey}`];
      return keepHeld(attack, 2_001, server, () =>
        lines(
          `POST ${paths[n++ % paths.length]} HTTP/1.1`,
          "host: localhost",
          "content-type: application/json",
          "content-length: 99",
        ),
      );
    },
  },
  {
    name: "silent-lines",
    about: "3,000 lines on which nothing is said, half a header, or nothing after a request",
    run: (attack) => {
      const said = ["", "GET /health HTTP/1.1\r\nhost: loc", lines("GET /health HTTP/1.1", "host: localhost")];
      let n = 0;
      return keepHeld(attack, 3_000, attack.target.server, () => said[n++ % said.length]!);
    },
  },
  {
    name: "silent-sockets",
    about: "300 sockets at /connect that say nothing",
    run: (attack) =>
      keepHeld(attack, 300, attack.target.server, () =>
        upgrade("/connect", "sec-websocket-protocol: v0.connect.inngest.com"),
      ),
  },
  {
    name: "refused-upgrades",
    about: "upgrades that are refused, whose other end stays open",
    run: (attack) => keepHeld(attack, 500, attack.target.server, () => upgrade("/v1/realtime/connect?token=nonsense")),
  },
  {
    name: "environments",
    about: "a viewer's reads of environments nobody has",
    run: (attack) => {
      const { server, viewer } = attack.target;
      let n = 0;
      return keepAt(attack, 2, 20, async () => {
        const env = `zz${process.pid}-${n++}`;
        return (await ask(`${server}/api/status?env=${env}`, { headers: { cookie: viewer } })).reaction;
      });
    },
  },
  {
    name: "forged-webhooks",
    about: "deliveries with signatures of somebody else",
    run: (attack) => {
      let n = 0;
      return keepAt(attack, 4, 10, async () => {
        const t = Math.floor(Date.now() / 1_000);
        const v1 = createHash("sha256").update(String(n++)).digest("hex");
        const headers = { ...json, "stripe-signature": `t=${t},${`v1=${v1},`.repeat(1 + (n % 20))}v0=0` };
        const body = JSON.stringify({ id: `evt_forged_${n}`, type: "charge.succeeded", data: {} });
        const path = n % 5 === 0 ? `/w/zz${n}/${source}` : `/w/${source}`;
        return (await ask(`${attack.target.server}${path}`, { method: "POST", headers, body })).reaction;
      });
    },
  },
  {
    name: "many-fields",
    about: "forms of 40,000 fields to a source whose provider signs them sorted",
    run: (attack) => {
      const body = Array.from({ length: 40_000 }, (_, i) => i.toString(36)).join("&");
      const headers = { ...form, "x-twilio-signature": Buffer.alloc(20).toString("base64") };
      return keepAt(attack, 2, 50, async () => {
        return (await ask(`${attack.target.server}/w/${formSource}`, { method: "POST", headers, body })).reaction;
      });
    },
  },
  {
    name: "forged-names",
    about: "events under a webhook source's names, with an event key from a browser: alone, in batches, as deliveries",
    run: (attack) => {
      const { server, publicEventKey } = attack.target;
      let n = 0;
      return keepAt(attack, 4, 20, async () => {
        const id = `evt_honest_${++n}`;
        const forged = { name: `${source}/charge.succeeded`, id: `${source}:${id}`, data: { id } };
        const body = JSON.stringify(n % 2 === 0 ? forged : [{ name: "siege/other", data: {} }, forged]);
        const headers = n % 3 === 0 ? { ...json, "x-idem-delivery": "1" } : json;
        const { reaction } = await ask(`${server}/e/${publicEventKey}`, { method: "POST", headers, body });
        if (reaction === 200) throw new Error(`an event key sent ${forged.name}, a name of source "${source}"`);
        return reaction;
      });
    },
  },
  {
    name: "event-flood",
    about: "as many events as an event key from a browser can send",
    run: (attack) => {
      const { server, publicEventKey } = attack.target;
      const events = Array.from({ length: 200 }, () => ({ name: "siege/flood", data: { text: "x".repeat(200) } }));
      const body = JSON.stringify(events);
      return keepAt(attack, 4, 10, async () => {
        return (await ask(`${server}/e/${publicEventKey}`, { method: "POST", headers: json, body })).reaction;
      });
    },
  },
];
