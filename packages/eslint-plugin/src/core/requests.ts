// HTTP requests, whichever client makes them: method, address, and where its headers may stand.
import type { Names } from "./names.ts";
import {
  argumentsOf,
  bare,
  type Call,
  hasSpread,
  isFunction,
  keyName,
  type Node,
  propertyOf,
  textOf,
  writtenText,
} from "./syntax.ts";

export interface Request {
  /** Null where it is not written here. */
  readonly method: string | null;
  readonly url: Node | null;
  /** May have headers: null where something unknown is handed over. */
  readonly options: readonly Node[];
  /** Whether an answer of 500 is no error of the call's own. */
  readonly isFetch: boolean;
}

const verbs: Readonly<Record<string, string>> = {
  get: "GET",
  head: "HEAD",
  options: "OPTIONS",
  post: "POST",
  postForm: "POST",
  put: "PUT",
  patch: "PATCH",
  delete: "DELETE",
  del: "DELETE",
};
const fetchModules = new Set(["undici", "node-fetch", "cross-fetch", "isomorphic-fetch", "ofetch"]);
const nodeModules = /^(node:)?(https?|follow-redirects)$/;
const verbClients = new Set(["axios", "got", "ky", "superagent", "needle", "ofetch", "wretch", "undici"]);
const bodyFirst = new Set(["axios", "superagent", "needle"]);

export function readRequest(names: Names, call: Call): Request | null {
  if (call.type !== "CallExpression") return null;
  const callee = bare(call.callee);
  const given = argumentsOf(call);
  if (names.isGlobal(callee, "fetch") || names.isGlobal(callee, "$fetch")) return fetched(names, call, given);
  const { module, root, names: called, path } = names.sourceOf(callee);
  const client = module ?? (called.some((name) => /^axios/i.test(name)) ? "axios" : null);
  if (client === null) return null;
  const name = path.at(-1) ?? root;
  if (fetchModules.has(client) && (name === "fetch" || name === "default" || name === "ofetch" || name === "$fetch"))
    return fetched(names, call, given);
  if (name === "request" && (nodeModules.test(client) || client === "undici")) {
    const options = given.slice(0, 2).filter((each) => names.objectOf(each) !== null);
    const unknown = given.slice(1, 2).some((each) => names.objectOf(each) === null && !isFunction(bare(each)));
    const method = unknown ? null : (methodIn(names, options) ?? "GET");
    return { method, url: given[0] ?? null, options, isFetch: client === "undici" };
  }
  if (!verbClients.has(client)) return null;
  const verb = verbs[name];
  if (verb !== undefined) {
    const config = bodyFirst.has(client) && /^(POST|PUT|PATCH)$/.test(verb) ? given.slice(2) : given.slice(1);
    return { method: verb, url: given[0] ?? null, options: config, isFetch: false };
  }
  if (name !== "default" && name !== "request" && name !== "()" && path.length > 0) return null;
  const options = given.map((each) => names.objectOf(each)).filter((each) => each !== null);
  const address = options.map((each) => propertyOf(each, "url")?.value).find((each) => each !== undefined);
  if (options.length === 0 && client !== "got" && client !== "ky") return null;
  const url = address ?? given[0] ?? null;
  return { method: methodIn(names, options) ?? "GET", url, options, isFetch: false };
}

function fetched(names: Names, call: Call, given: Node[]): Request {
  const first = given[0] === undefined ? null : names.valueOf(given[0]);
  // fetch(new Request(url, { … }))
  const [url, init] =
    first?.type === "NewExpression" && names.isGlobal(first.callee, "Request")
      ? [first.arguments[0] as Node | undefined, first.arguments[1] as Node | undefined]
      : [given[0], given[1]];
  const object = names.objectOf(init);
  const isKnown = !hasSpread(call) && (init === undefined || object !== null);
  const options = init === undefined ? [] : [init];
  const method = isKnown ? (object === null ? "GET" : methodIn(names, [object], "GET")) : null;
  return { method, url: url ?? null, options, isFetch: true };
}

/** Null where it is decided elsewhere; `otherwise` where none is written. */
function methodIn(names: Names, options: readonly Node[], otherwise: string | null = null): string | null {
  for (const each of options) {
    const object = names.objectOf(each);
    if (object === null) continue;
    const method = object.properties.find((property) => keyName(property) === "method");
    if (method?.type === "Property") return textOf(names.valueOf(method.value))?.toUpperCase() ?? null;
    if (object.properties.some(({ type }) => type === "SpreadElement")) return null;
  }
  return otherwise;
}

/** The written parts of an address: "https://crm.example/clients/ " with a blank for the others. */
export function addressText(names: Names, url: Node | null): string | null {
  return url === null ? null : writtenText(names.valueOf(url));
}

export function hostOf(address: string | null): string | null {
  return /^https?:\/\/([^/?#\s]+)/i.exec(address ?? "")?.[1]?.toLowerCase() ?? null;
}

/** Host and path without what differs from thing to thing: two requests of one resource have the same. */
export function resourceOf(address: string | null): string | null {
  const plain = address
    ?.replace(/[?#].*$/s, "")
    .replace(/\/?\s.*$/s, "")
    .replace(/\/+$/, "");
  return plain === undefined || plain === "" || plain === address?.slice(0, 8) ? null : plain;
}
