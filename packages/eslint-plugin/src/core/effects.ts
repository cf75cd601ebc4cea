// Calls that leave something behind: requests, SDKs of providers, mails, statements of databases, files, events, queues. And calls that only look.
import { isDatabase, readStatement, type Statement } from "./database.ts";
import type { Durable } from "./durable.ts";
import type { Names, Source } from "./names.ts";
import { askedByPost, awsCommands, hostNamed, type KeyWay, models, providers } from "./providers.ts";
import { addressText, hostOf, type Request, readRequest, resourceOf } from "./requests.ts";
import { argumentsOf, bare, type Call, isCall, memberName, type Node, nameOf, propertyOf, textOf } from "./syntax.ts";

export type EffectKind = "request" | "sdk" | "mail" | "database" | "file" | "event" | "queue" | "model" | "service";

export interface Effect {
  readonly node: Node;
  readonly kind: EffectKind;
  /** As a message names it: `stripe.invoices.create`, `POST api.stripe.com/v1/invoices`. */
  readonly what: string;
  /** Whether doing it twice leaves two: a POST, an insert, a mail. A PUT to an address of one's own is not such a thing. */
  readonly makes: boolean;
  /** The destination, where it is known; `key` null where it takes none. */
  readonly provider: { readonly name: string; readonly takesKey: boolean; readonly key: KeyWay } | null;
  /** Names the thing that is written: an address, a path, a key of a bucket. */
  readonly address: Node | null;
  /** The collection it belongs to: two calls of one resource have the same. */
  readonly resource: string | null;
  readonly request: Request | null;
  readonly statement: Statement | null;
}

export interface Look {
  readonly node: Node;
  readonly resource: string;
}

const nothing = { provider: null, address: null, resource: null, request: null, statement: null } as const;

export function readEffect(
  names: Names,
  durable: Durable,
  node: Node,
  isClient: (node: Node) => boolean,
): Effect | null {
  if (node.type === "TaggedTemplateExpression") return ofStatement(node, readStatement(names, node));
  if (!isCall(node) || durable.stepOf(node) !== null) return null;
  const callee = bare(node.callee);
  const source = names.sourceOf(callee);
  if (callee.type === "MemberExpression" && isClient(callee.object)) {
    const isSend = memberName(callee) === "send" && node.arguments.length > 0;
    return isSend ? { ...nothing, node, kind: "event", what: nameOf(callee), makes: true } : null;
  }
  return (
    ofAws(names, node, callee) ??
    ofProvider(names, node, callee, source) ??
    ofRequest(names, node) ??
    ofFile(names, node, source) ??
    ofStatement(node, readStatement(names, node)) ??
    ofStore(node, callee, source) ??
    ofService(node, callee, source)
  );
}

/** A read of something that may be there already. */
export function readLook(names: Names, node: Node): Look | null {
  const statement = readStatement(names, node);
  if (statement !== null)
    return statement.act === "read" && statement.table !== null ? { node, resource: statement.table } : null;
  if (!isCall(node)) return null;
  const request = readRequest(names, node);
  if (request !== null) {
    const resource = request.method === "GET" ? resourceOf(addressText(names, request.url)) : null;
    return resource === null ? null : { node, resource };
  }
  const callee = bare(node.callee);
  const name = memberName(callee);
  if (
    name === null ||
    callee.type !== "MemberExpression" ||
    !/^(list|search|retrieve|find\w*|get\w*|fetch\w*|lookup\w*|query)$/i.test(name)
  )
    return null;
  return providerOf(names.sourceOf(callee)) === null ? null : { node, resource: nameOf(callee.object) };
}

function ofAws(names: Names, node: Call, callee: Node): Effect | null {
  if (memberName(callee) !== "send") return null;
  const command = argumentsOf(node)[0] === undefined ? null : names.valueOf(argumentsOf(node)[0]!);
  if (command?.type !== "NewExpression") return null;
  const name = nameOf(command.callee).split(".").at(-1)!;
  const known = awsCommands.find((each) => each.name.test(name));
  if (known === undefined) return null;
  const input = names.objectOf(command.arguments[0] as Node | undefined);
  const property = input === null ? null : (propertyOf(input, "Key") ?? propertyOf(input, "Item"));
  // Only queues and topics in order take a key.
  const isInOrder = input === null || propertyOf(input, "MessageGroupId") !== null;
  const takesKey = known.key !== null && (known.key !== "MessageDeduplicationId" || isInOrder);
  return {
    ...nothing,
    node,
    kind: name.startsWith("SendEmail") ? "mail" : "sdk",
    what: `${nameOf(callee)}(new ${name})`,
    makes: known.makes,
    provider: known.makes
      ? { name: `AWS (${name})`, takesKey, key: takesKey ? { in: "fields", name: known.key! } : null }
      : null,
    address: property?.value ?? null,
    resource: name.replace(/^[A-Z][a-z]+/, ""),
  };
}

function providerOf(source: Source): (typeof providers)[number] | null {
  return providers.find((each) => isOf(each, source)) ?? null;
}

function isOf({ modules, names }: Pick<(typeof providers)[number], "modules" | "names">, source: Source): boolean {
  const { module } = source;
  if (module !== null) return modules.some((each) => (typeof each === "string" ? each === module : each.test(module)));
  return (
    [...source.names, source.root].some((name) => names.test(name)) ||
    source.path.slice(0, -1).some((name) => names.test(name))
  );
}

/** The members behind the client: without the calls that made it, and without the client's own name in a container. */
function membersOf(source: Source, names: RegExp): string {
  const path = source.path.slice(source.path.lastIndexOf("()") + 1);
  const at = path.findIndex((name) => names.test(name));
  const members = source.path.length > 0 && source.module === null ? path.slice(at + 1) : path;
  return members.length === 0 ? source.root : members.join(".");
}

function ofProvider(names: Names, node: Call, callee: Node, source: Source): Effect | null {
  if (node.type !== "CallExpression") return null;
  const from = source.module === null ? (names.typedSource(callee) ?? source) : source;
  const known = providers.find((each) => isOf(each, from) && each.makes.test(membersOf(from, each.names)));
  const what = nameOf(callee);
  if (known !== undefined) {
    const provider = { name: known.name, takesKey: known.key !== null, key: known.key };
    const kind = known.name === "SMTP" || /mail|send/i.test(membersOf(from, known.names)) ? "mail" : "sdk";
    const resource = callee.type === "MemberExpression" ? nameOf(callee.object) : null;
    return { ...nothing, node, kind, what, makes: true, provider, resource };
  }
  const model = models.find((each) => isOf({ ...each }, from) && each.makes.test(membersOf(from, each.names)));
  return model === undefined ? null : { ...nothing, node, kind: "model", what, makes: false };
}

const asks =
  /(graphql|search|query|lookup|token|oauth|authenticate|login|validate|verify|embeddings|completions)\/?(\s|$|\?)/i;

function ofRequest(names: Names, node: Call): Effect | null {
  const request = readRequest(names, node);
  if (request === null || request.method === null || /^(GET|HEAD|OPTIONS)$/.test(request.method)) return null;
  const address = addressText(names, request.url);
  const host = hostOf(address);
  const known = host === null ? null : hostNamed(host);
  const isQuestion = (host !== null && askedByPost.test(host)) || asks.test(address ?? "");
  const shown = address
    ?.replace(/^https?:\/\//, "")
    .replace(/[?#].*$/s, "")
    .replace(/\s.*$/s, "…")
    .slice(0, 60);
  return {
    ...nothing,
    node,
    kind: host !== null && askedByPost.test(host) ? "model" : "request",
    what: shown && shown !== "…" ? `${request.method} ${shown}` : `the ${request.method} of ${nameOf(node.callee)}`,
    makes: request.method === "POST" && !isQuestion,
    provider:
      known === null ? null : { ...known, key: known.takesKey ? { in: "options", name: "Idempotency-Key" } : null },
    address: request.url,
    resource: resourceOf(address),
    request,
  };
}

const fileWrites =
  /^(writeFile|appendFile|rename|copyFile|cp|rm|unlink|mkdir|createWriteStream|truncate|outputFile|outputJson)(Sync)?$/;

function ofFile(names: Names, node: Call, { module, root, path }: Source): Effect | null {
  if (module === null || !/^(node:)?(fs|fs\/promises|fs-extra|graceful-fs)$/.test(module)) return null;
  const name = path.at(-1) ?? root;
  if (!fileWrites.test(name)) return null;
  const given = argumentsOf(node);
  const options = names.objectOf(given.at(-1));
  const isAppended =
    name.startsWith("append") ||
    /^a/.test(
      textOf(options === null ? null : propertyOf(options, "flags")?.value) ??
        textOf(options === null ? null : propertyOf(options, "flag")?.value) ??
        "",
    );
  const address = (/^(rename|copyFile|cp)/.test(name) ? given[1] : given[0]) ?? null;
  return {
    ...nothing,
    node,
    kind: "file",
    what: nameOf(node.callee),
    makes: isAppended,
    address,
    resource: textOf(address),
  };
}

function ofStatement(node: Node, statement: Statement | null): Effect | null {
  if (statement === null || statement.act === "read") return null;
  const what =
    statement.sql === null
      ? nameOf(isCall(node) ? node.callee : node)
      : `the ${statement.act === "increment" ? "update" : statement.act} of ${statement.table ?? "a table"}`;
  const makes = statement.act === "insert" || statement.act === "increment";
  return { ...nothing, node, kind: "database", what, makes, resource: statement.table, statement };
}

const counters = /^(incr|incrby|incrbyfloat|decr|decrby|hincrby|hincrbyfloat|zincrby|lpush|rpush|xadd|append)$/i;

/** Redis and its kind, and queues. */
function ofStore(node: Call, callee: Node, { names, root, module }: Source): Effect | null {
  const name = memberName(callee);
  if (name === null) return null;
  const called = [...names, root];
  const isRedis =
    (module !== null && /^(redis|ioredis|@upstash\/redis|@vercel\/kv)$/.test(module)) ||
    called.some((each) => /redis|^kv$|^cache$/i.test(each));
  if (isRedis && counters.test(name)) {
    const statement: Statement = { node, act: "increment", table: null, sql: null };
    return { ...nothing, node, kind: "database", what: nameOf(callee), makes: true, statement };
  }
  if (isRedis && /^(set|hset|setex|del|sadd|zadd|expire)$/i.test(name))
    return { ...nothing, node, kind: "database", what: nameOf(callee), makes: false };
  const isQueue = called.some((each) => /queue$/i.test(each)) && /^(add|addBulk|send|enqueue|publish|push)$/.test(name);
  return isQueue ? { ...nothing, node, kind: "queue", what: nameOf(callee), makes: true } : null;
}

const does =
  /^(send|create|charge|notify|publish|refund|revoke|grant|book|pay|transfer|submit|deliver|dispatch|trigger|invite|provision)([A-Z]\w*)?$/;
const says = /^(send|deliver|dispatch)([A-Z]\w*)?$/;

/** `emailService.sendReceipt(…)`: nobody's SDK, and its names say what it does. */
function ofService(node: Call, callee: Node, source: Source): Effect | null {
  const name = memberName(callee) ?? (callee.type === "Identifier" ? callee.name : null);
  if (
    name === null ||
    node.type !== "CallExpression" ||
    isDatabase(source) ||
    /^(node:|react|next|zod|@nestjs)/.test(source.module ?? "")
  )
    return null;
  const owners = callee.type === "MemberExpression" ? [nameOf(callee.object).split(".").at(-1)!, ...source.names] : [];
  const isMail = owners.some((each) => /e?mail(er|s)?(Service|Client|Provider)?$/i.test(each)) && says.test(name);
  const isMailFunction =
    callee.type === "Identifier" &&
    /^send[A-Z]?\w*(E?mail|Sms|SMS|Message|Notification)\w*$/.test(name) &&
    source.path.length === 0;
  if (isMail || isMailFunction) return { ...nothing, node, kind: "mail", what: nameOf(callee), makes: true };
  const isService = owners.some((each) => /(Service|Gateway|Api|API|Notifier|Sdk|SDK)$/.test(each)) && does.test(name);
  return isService ? { ...nothing, node, kind: "service", what: nameOf(callee), makes: true } : null;
}
