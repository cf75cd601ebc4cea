// Bodies nobody should send: right ones bent a little, which get furthest, and wrong ones.
import { brotliCompressSync, deflateSync, gzipSync, constants as zlib } from "node:zlib";
import type { Chance } from "./chance.suite.ts";

const ulid = "01JD0000000000000000000000";
const sha = "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8";

/** Bodies of the wire, by the beginning of the path that takes them. */
const templates: readonly (readonly [RegExp, unknown])[] = [
  [
    /^\/e\//,
    [{ name: "fuzz/sent", data: { a: 1, _inngest: {} }, ts: 1794727034207, id: "x", v: "2", user: {}, meta: {} }],
  ],
  [/^\/api\/events\/[^/]+\/(release|drop)/, { function: "bent-f", reason: "because" }],
  [/resume$/, { reason: "because", waiting: "release", next: 1794727034207 }],
  [/^\/api\/events/, { events: [{ name: "fuzz/sent", data: { a: [1] } }], name: "fuzz/sent", data: {} }],
  [/^\/invoke/, { name: "x", data: { a: 1 } }],
  [/^\/api\/session/, { password: "open sesame" }],
  [/signals$/, { signal: "s", data: { a: 1 } }],
  [
    /^\/fn\/register/,
    {
      url: "http://127.0.0.1:1/api/inngest",
      deployType: "ping",
      framework: "nodejs",
      appName: "bent",
      sdk: "js:v4.24.0",
      v: "0.1",
      functions: [
        {
          id: "bent-f",
          name: "F",
          triggers: [{ event: "bent/a", expression: "event.data.x == 1" }],
          steps: {
            step: {
              id: "step",
              name: "step",
              runtime: { type: "http", url: "http://127.0.0.1:1/api/inngest?fnId=bent-f&stepId=step" },
              retries: { attempts: 5 },
            },
          },
          idempotency: "event.data.id",
          timeouts: { start: "10s", finish: "1m" },
          dataSchemas: { "bent/a": '{"type":"object","properties":{"x":{"type":"number"}}}' },
          cancel: [{ event: "bent/c", timeout: "1d", if: "event.data.id == async.data.id" }],
        },
      ],
    },
  ],
  [
    /checkpoint/,
    {
      run_id: ulid,
      fn_id: "00000000-0000-0000-0000-000000000000",
      app_id: "00000000-0000-0000-0000-000000000000",
      qi_id: "q",
      request_id: ulid,
      generation_id: 1,
      event: {
        name: "inngest/http.request",
        data: { domain: "http://127.0.0.1:1", method: "GET", path: "/x", fn: "f" },
      },
      steps: [
        { id: sha, op: "StepRun", name: "a", displayName: "a", opts: {}, data: { x: 1 }, timing: { a: 1, b: 2 } },
        { id: sha, op: "RunComplete", data: { status: 200, headers: {}, body: "", version: 2 } },
      ],
      ts: 1794727034207,
      request_version: 2,
      retries: 3,
    },
  ],
  [/realtime\/token/, [{ channel: "c", name: "t", kind: "run" }]],
  [/rerun-preview/, { data: { n: 1 } }],
  [/rerun/, { fromStep: "a", input: [1] }],
  [/keys|pause|cancel/, { reason: "because" }],
  [/apps/, { url: "http://127.0.0.1:1/api/inngest" }],
];

const oddTexts = [
  "",
  "\u0000",
  "\ud800",
  "é".repeat(300),
  "../../etc/passwd",
  "__proto__",
  "constructor",
  "a".repeat(5_000),
];
const oddNumbers = [0, -0, -1, 1.5, 1e308, -1e308, 2 ** 53, 1e-320];

function odd(chance: Chance): unknown {
  switch (chance.below(9)) {
    case 0:
      return null;
    case 1:
      return chance.is(0.5);
    case 2:
      return chance.of(oddNumbers);
    case 3:
      return [];
    case 4:
      return {};
    case 5:
      return Array.from({ length: chance.below(50) }, () => chance.of(oddTexts));
    case 6:
      return JSON.parse('{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}');
    case 7:
      return nested(chance.below(100));
    default:
      return chance.of(oddTexts);
  }
}

const nested = (depth: number): unknown => JSON.parse(`${'{"a":['.repeat(depth)}1${"]}".repeat(depth)}`);

/** The value with a few of its parts replaced, left out, doubled or added. */
function bend(value: unknown, chance: Chance, strength: number): unknown {
  if (chance.is(strength)) return odd(chance);
  if (Array.isArray(value)) {
    const list = value.map((item) => bend(item, chance, strength));
    return chance.is(0.1) ? [...list, ...list, odd(chance)] : list;
  }
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(() => !chance.is(strength));
  const bent = Object.fromEntries(kept.map(([key, item]) => [key, bend(item, chance, strength)]));
  return chance.is(strength) ? { ...bent, [chance.of(oddTexts)]: odd(chance) } : bent;
}

export interface Body {
  readonly bytes: Buffer;
  readonly contentType: string | null;
  readonly contentEncoding: string | null;
}

const contentTypes = [
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=x",
  "multipart/form-data",
  "text/plain",
  "text/stream",
  "application/protobuf",
  "application/octet-stream",
  "application/json; charset=utf-16",
  "application/json;;;=",
  "",
  ";",
  "nonsense",
];

/** `right`: what its route would take, where that is known. */
export function bodyFor(path: string, right: unknown, chance: Chance): Body {
  const bytes = bytesFor(path, right, chance);
  const contentType = chance.is(0.8) ? "application/json" : chance.is(0.2) ? null : chance.of(contentTypes);
  if (chance.is(0.9)) return { bytes, contentType, contentEncoding: null };
  switch (chance.below(6)) {
    case 0:
      return { bytes: gzipSync(bytes), contentType, contentEncoding: "gzip" };
    case 1:
      return { bytes: deflateSync(bytes), contentType, contentEncoding: "deflate" };
    case 2:
      return { bytes: brotliCompressSync(bytes, quick), contentType, contentEncoding: "br" };
    case 3:
      return { bytes: bomb, contentType, contentEncoding: "gzip" };
    case 4:
      return { bytes, contentType, contentEncoding: chance.of(["gzip", "deflate", "br"]) };
    default:
      return { bytes, contentType, contentEncoding: chance.of(["zstd", "gzip, gzip", "compress", "\t", "nonsense"]) };
  }
}

// The best takes a hundred times as long.
const quick = { params: { [zlib.BROTLI_PARAM_QUALITY]: 4 } };

/** 64 MB of spaces in 64 KB. */
const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024, " "));

function bytesFor(path: string, right: unknown, chance: Chance): Buffer {
  const template = right ?? templates.find(([pattern]) => pattern.test(path))?.[1] ?? { a: 1 };
  const json = Buffer.from(JSON.stringify(bend(template, chance, chance.of([0, 0.02, 0.1, 0.3]))) ?? "");
  switch (chance.below(20)) {
    case 0:
      return Buffer.alloc(0);
    case 1:
      return json.subarray(0, chance.below(json.length + 1));
    case 2:
      return chance.bytes(chance.below(500));
    case 3:
      return Buffer.from("[".repeat(chance.below(100_000)));
    case 4:
      return Buffer.from('{"a":'.repeat(chance.below(20_000)));
    case 5:
      return Buffer.concat([json, chance.bytes(3)]);
    case 6:
      return Buffer.from(json.map((byte) => (chance.is(0.01) ? chance.below(256) : byte)));
    case 7:
      return Buffer.from(JSON.stringify(odd(chance)) ?? "");
    case 8:
      // Rare: large ones are slow for the sender too.
      return chance.is(0.1) ? Buffer.alloc(3 * 1024 * 1024, '"') : Buffer.from("a=1&b=%ff&=&&c[]=2");
    default:
      return json;
  }
}
