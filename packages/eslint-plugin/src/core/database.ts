// Statements of databases, as SQL text or by a query builder: what they do to which table, and what makes them safe to repeat.
import type { Names, Source } from "./names.ts";
import {
  ancestors,
  argumentsOf,
  bare,
  type Call,
  childrenOf,
  descend,
  enclosingFunction,
  isCall,
  isFunction,
  isWithin,
  keyName,
  memberName,
  type Node,
  writtenText,
} from "./syntax.ts";

export type Act = "insert" | "upsert" | "update" | "increment" | "delete" | "read";

export interface Statement {
  readonly node: Node;
  readonly act: Act;
  readonly table: string | null;
  readonly sql: string | null;
}

const drivers =
  /^(pg|postgres|mysql2?|mysql2\/promise|better-sqlite3|node:sqlite|sqlite3?|@prisma\/.*|drizzle-orm.*|kysely|knex|mongodb|mongoose|typeorm|sequelize|@mikro-orm\/.*|@supabase\/.*|@planetscale\/.*|@neondatabase\/.*|@libsql\/.*|@vercel\/postgres|idem\/sql|convex\/.*)$/;
const databaseName =
  /^(db|database|prisma|orm|knex|sql|pool|pgPool|supabase|drizzle|kysely|mongo|tx|trx|conn|connection|em|entityManager|collection|repo|repository|adapter)$|(Db|DB|Prisma|Supabase|Repo|Repository|Collection|Pool)$/;

const inserts = new Set([
  "insert",
  "insertOne",
  "insertMany",
  "insertInto",
  "create",
  "createMany",
  "createManyAndReturn",
]);
const upserts = new Set([
  "upsert",
  "findOrCreate",
  "createOrUpdate",
  "connectOrCreate",
  "bulkUpsert",
  "insertOrIgnore",
  "replaceOne",
  "replaceInto",
]);
const updates = new Set([
  "update",
  "updateOne",
  "updateMany",
  "updateTable",
  "findOneAndUpdate",
  "findByIdAndUpdate",
  "save",
  "increment",
  "decrement",
]);
const deletes = new Set(["delete", "deleteOne", "deleteMany", "deleteFrom", "destroy", "truncate"]);
const reads = /^(find\w*|get\w*|select|selectFrom|selectDistinct|count\w*|exists|first|aggregate|query|list\w*)$/;
const settlers = /^(onConflict\w*|onDuplicateKeyUpdate|ignore|merge|orIgnore|orUpdate|skipDuplicates)$/;
const sqlMethods =
  /^(query|execute|exec|run|all|get|prepare|raw|unsafe|sql|none|one|oneOrNone|any|many|batch|\$queryRaw(Unsafe)?|\$executeRaw(Unsafe)?)$/;

/** Methods that only models of Mongoose have: `Wallet.updateOne(…)`. */
const ofModels =
  /^(insertMany|insertOne|updateOne|updateMany|findOneAndUpdate|findByIdAndUpdate|deleteOne|deleteMany|findOne|findById)$/;

const startsSql = /^\s*(\/\*.*?\*\/\s*)?(insert|update|delete|select|with|merge|replace|truncate)\b/is;
const settlesConflict =
  /\bon\s+conflict\b|\bon\s+duplicate\s+key\b|\binsert\s+(or\s+)?(ignore|replace)\b|\breplace\s+into\b|\bwhere\s+not\s+exists\b|\bmerge\s+into\b/i;
const increments =
  /\bset\b[^;]*?"?\b(\w+)"?\s*=\s*(?:coalesce\s*\(\s*)?(?:\w+\.)?"?\1"?\s*(?:,\s*\w+\s*\)\s*)?(?:[+-]|\|\|)/is;
/** A condition that is no longer true once the update was made. */
const guards = /\bwhere\b.*(\bis\s+null\b|<>|!=|\bnot\s+exists\b|\bnot\s+in\b|\bversion\s*=)/is;
/** `set state = 'shipped', version = version + 1 where state = 'paid'`: what it sets is what it asks for. */
function isTrueOnce(sql: string): boolean {
  if (guards.test(sql)) return true;
  const [, set = "", where = ""] = /\bset\b(.*?)\bwhere\b(.*)$/is.exec(sql) ?? [];
  const columns = [...set.matchAll(/(?:^|,)\s*"?(\w+)"?\s*=\s*(?!\s*"?\1"?\s*[+-])/g)].map(([, column]) => column!);
  return columns.some((column) => new RegExp(`\\b${column}\\b"?\\s*(=|in\\b)`, "i").test(where));
}

/** Names of rows that say "this was done". */
const marker = /idempot|processed|dedup|inbox|seen_?events|event_?id|request_?id|(^|_|[a-z])key$/i;

export function isDatabase({ module, names, root, path }: Source): boolean {
  if (module !== null && drivers.test(module)) return true;
  if (module !== null && path.length === 0) return false;
  // supabase.from("users"), whatever the client is called
  if (path.includes("from") && path.indexOf("from") < path.length - 1) return true;
  return [...names, ...root.split("."), ...path.slice(0, -1)].some((name) => databaseName.test(name));
}

export function readStatement(names: Names, node: Node): Statement | null {
  if (node.type === "TaggedTemplateExpression") {
    const text = writtenText(node);
    return text !== null && startsSql.test(text) ? ofSql(node, text) : null;
  }
  if (!isCall(node)) return null;
  const callee = bare(node.callee);
  const name = memberName(callee);
  if (name === null || callee.type !== "MemberExpression") return null;
  const first = argumentsOf(node)[0];
  if (sqlMethods.test(name) && first !== undefined) {
    const text = sqlText(names, first);
    if (text !== null && startsSql.test(text)) return ofSql(node, text);
  }
  const act = actOf(name);
  if (act === null) return null;
  const source = names.sourceOf(callee);
  const typed = source.module === null ? names.typedSource(callee)?.module : null;
  if (
    !isDatabase(source) &&
    !drivers.test(typed ?? "") &&
    !(ofModels.test(name) && /^[A-Z]/.test(source.names.at(-1) ?? ""))
  )
    return null;
  // `orders.get(id)` of a Map, `list.find(…)` of an array are no reads of a database.
  if (act === "read" && first !== undefined && isFunction(bare(first))) return null;
  const table = tableOf(names, node, name);
  if (act === "insert" && isSettled(names, node)) return { node, act: "upsert", table, sql: null };
  if (act === "update") {
    if (name === "increment" || name === "decrement" || hasIncrement(names, node))
      return { node, act: "increment", table, sql: null };
    if (first !== undefined && argumentsOf(node).some((each) => hasProperty(names, each, /^upsert$/)))
      return { node, act: "upsert", table, sql: null };
  }
  if (act === "upsert" && hasIncrement(names, node)) return { node, act: "increment", table, sql: null };
  return { node, act, table, sql: null };
}

function actOf(name: string): Act | null {
  if (inserts.has(name)) return "insert";
  if (upserts.has(name)) return "upsert";
  if (updates.has(name)) return "update";
  if (deletes.has(name)) return "delete";
  return reads.test(name) ? "read" : null;
}

function sqlText(names: Names, node: Node): string | null {
  const value = names.valueOf(node);
  if (value.type === "ObjectExpression") {
    const text = value.properties.find((each) => keyName(each) === "text" || keyName(each) === "sql");
    return text?.type === "Property" ? sqlText(names, text.value) : null;
  }
  return writtenText(value);
}

function ofSql(node: Node, text: string): Statement {
  const sql = text.replace(/--.*$/gm, " ");
  const table = /\b(?:into|update|from)\s+(?:only\s+)?"?(?:\w+"?\."?)?(\w+)/i.exec(sql)?.[1]?.toLowerCase() ?? null;
  const word = /\b(insert|update|delete|merge|replace|truncate)\b/i
    .exec(sql.replace(/\bfor\s+update\b/gi, " ").replace(/\bdo\s+update\b/gi, " "))?.[1]
    ?.toLowerCase();
  const statement = (act: Act): Statement => ({ node, act, table, sql });
  if (increments.test(sql)) return statement(word === "update" && isTrueOnce(sql) ? "update" : "increment");
  switch (word) {
    case "insert":
      return statement(settlesConflict.test(sql) ? "upsert" : "insert");
    case "merge":
    case "replace":
      return statement("upsert");
    case "update":
      return statement("update");
    case "delete":
    case "truncate":
      return statement("delete");
    default:
      return statement("read");
  }
}

/** `db.users.insert`: users; `db.insert(users)`, `insertInto("users")`, `from("users").insert`: the same. */
function tableOf(names: Names, call: Call, name: string): string | null {
  const callee = bare(call.callee);
  if (callee.type !== "MemberExpression") return null;
  const object = bare(callee.object);
  const own = memberName(object);
  if (own !== null && !databaseName.test(own)) return own;
  const given = argumentsOf(call)[0];
  const inChain = object.type === "CallExpression" ? argumentsOf(object)[0] : undefined;
  for (const each of name === "select" ? [inChain] : [given, inChain]) {
    if (each === undefined) continue;
    const plain = bare(each);
    if (plain.type === "Identifier") return plain.name;
    const text = writtenText(names.valueOf(plain));
    if (text !== null && /^\w+$/.test(text)) return text;
    const member = memberName(plain);
    if (member !== null) return member;
  }
  // db.select().from(users), further along the chain.
  for (const each of chainOf(call)) if (each.name === "from" && each.call !== null) return firstName(each.call);
  return null;
}

function firstName(call: Call): string | null {
  const first = argumentsOf(call)[0];
  return first === undefined
    ? null
    : (memberName(bare(first)) ??
        (bare(first).type === "Identifier" ? (bare(first) as { name: string }).name : writtenText(first)));
}

/** The calls that follow on its result: `.values(…)`, `.onConflictDoNothing()`. */
export function chainOf(call: Node): { readonly name: string; readonly call: Call | null }[] {
  const links: { name: string; call: Call | null }[] = [];
  let at: Node = call;
  for (;;) {
    const parent: Node | undefined = at.parent;
    if (parent?.type === "MemberExpression" && parent.object === at) {
      const next: Node | undefined = parent.parent;
      const followed = isCall(next) && next.callee === parent ? next : null;
      links.push({ name: memberName(parent) ?? "", call: followed });
      at = followed ?? parent;
    } else if (parent?.type === "ChainExpression" || parent?.type === "TSNonNullExpression") at = parent;
    else return links;
  }
}

function isSettled(names: Names, call: Call): boolean {
  return (
    chainOf(call).some(({ name }) => settlers.test(name)) ||
    argumentsOf(call).some((each) =>
      hasProperty(
        names,
        each,
        /^(skipDuplicates|onConflict|ignoreDuplicates|orIgnore|updateOnDuplicate|connectOrCreate)$/,
      ),
    )
  );
}

const adders = /^(increment|decrement|multiply|divide|\$inc|\$mul|\$push)$/;

function hasIncrement(names: Names, call: Call): boolean {
  const links = chainOf(call).flatMap((link) => (link.call === null ? [] : argumentsOf(link.call)));
  return [...argumentsOf(call), ...links].some((each) => {
    const value = names.valueOf(each);
    for (const node of descend(value)) {
      if (node.type === "Property" && adders.test(keyName(node) ?? "")) return true;
      // FieldValue.increment(1), increment(1) of Firestore
      if (
        isCall(node) &&
        /^(increment|arrayAppend)$/.test(
          memberName(bare(node.callee)) ?? (node.callee.type === "Identifier" ? node.callee.name : ""),
        )
      )
        return true;
      // drizzle: sql`${accounts.balance} + 1`
      if (node.type === "TaggedTemplateExpression" && /^\s*[+-]\s/.test(writtenText(node) ?? "")) return true;
    }
    return false;
  });
}

function hasProperty(names: Names, node: Node, name: RegExp): boolean {
  const value = names.valueOf(node);
  for (const each of descend(value)) if (each.type === "Property" && name.test(keyName(each) ?? "")) return true;
  return false;
}

const transactions =
  /^(transaction|transactionSync|\$transaction|withTransaction|runTransaction|runInTransaction|begin|tx)$/;
const guarding =
  /^(sameTransaction|sameTransactionSync|preparedTransaction|withLock|withTransactionLock|findOrCreate\w*)$/;

/** Lets a transaction's work happen once: a mark that it happened, or a lock too, behind which a look is still true when it is acted upon. */
type Guard = "mark" | "lock";

/** Whether what stands here happens once with a mark that it happened: in one transaction with it, behind a lock, or in a body that Idem guards. */
export function isGuarded(names: Names, node: Node, by: Guard = "lock"): boolean {
  if (isBetweenMarks(names, node, by)) return true;
  for (const each of ancestors(node)) {
    if (each.type === "TryStatement" && isWithinBlock(node, each.block) && knowsConflict(each.handler)) return true;
    const call = isCall(each) ? each : null;
    if (call === null) continue;
    const callee = bare(call.callee);
    const name = memberName(callee) ?? (callee.type === "Identifier" ? callee.name : "");
    if (guarding.test(name) || (name === "process" && /inbox/i.test(writtenName(callee)))) return true;
    if (name === "catch" && isFunction(call.arguments[0]) && saysConflict(call.arguments[0])) return true;
    if (transactions.test(name) && call.arguments.some((given) => isGuardedBody(names, given, by))) return true;
  }
  for (const each of ancestors(node))
    if (each.type === "Property" && keyName(each) === "processInTransaction") return true;
  return false;
}

const isWithinBlock = (node: Node, block: Node): boolean =>
  node.range[0] >= block.range[0] && node.range[1] <= block.range[1];
const writtenName = (node: Node): string =>
  node.type === "MemberExpression" && node.object.type === "Identifier" ? node.object.name : "";
const conflictCode =
  /^(23505|P2002|11000|ER_DUP_ENTRY|SQLITE_CONSTRAINT\w*|unique_violation|UniqueConstraint\w*|UniqueViolation\w*)$/i;

function knowsConflict(handler: Node | null): boolean {
  return handler !== null && saysConflict(handler);
}

/** A catch that knows a unique violation by its code, or by a function whose name says so. */
function saysConflict(node: Node): boolean {
  for (const each of descend(node)) {
    if (each.type === "Literal" && conflictCode.test(String(each.value))) return true;
    if (each.type === "Identifier" && /unique|duplicate|conflict/i.test(each.name)) return true;
  }
  return false;
}

function isGuardedBody(names: Names, body: Node, by: Guard): boolean {
  for (const each of descend(body)) if (isMarking(names, each) || (by === "lock" && isLocking(each))) return true;
  return false;
}

/** `query("begin")` … `query("commit")`, written out in one function: what stands between them is one transaction. */
function isBetweenMarks(names: Names, node: Node, by: Guard): boolean {
  const fn = enclosingFunction(node);
  const said = fn === null ? [] : [...descend(fn.body)].filter((each) => isCall(each));
  const wordOf = (call: Node): string => {
    const first = isCall(call) ? argumentsOf(call)[0] : undefined;
    const text = first === undefined ? null : sqlText(names, first);
    return /^\s*(begin|start\s+transaction|commit)\b/i.exec(text ?? "")?.[1]?.toLowerCase() ?? "";
  };
  const begin = said.findLast((each) => each.range[1] < node.range[0] && /^(begin|start)/.test(wordOf(each)));
  const commit = said.find((each) => each.range[0] > node.range[1] && wordOf(each) === "commit");
  if (begin === undefined || commit === undefined) return false;
  return said.some(
    (each) =>
      each.range[0] > begin.range[1] &&
      each.range[1] < commit.range[0] &&
      (isMarking(names, each) || (by === "lock" && [...descend(each)].some(isLocking))),
  );
}

function isMarking(names: Names, node: Node): boolean {
  if (settlesConflict.test(writtenText(node) ?? "")) return true;
  if (!isCall(node)) return false;
  const callee = bare(node.callee);
  const name = memberName(callee) ?? (callee.type === "Identifier" ? callee.name : "");
  if (/^(transition(Sync)?|findOrCreate\w*)$/.test(name)) return true;
  const statement = readStatement(names, node);
  return statement?.act === "upsert" || (statement?.act === "insert" && isMark(names, statement));
}

function isLocking(node: Node): boolean {
  if (/\bfor\s+(no\s+key\s+)?update\b|\bserializable\b|pg_(try_)?advisory/i.test(writtenText(node) ?? "")) return true;
  if (node.type === "Property") return /^(isolationLevel|lock)$/.test(keyName(node) ?? "");
  return isCall(node) && /^(forUpdate|setLock)$/.test(memberName(bare(node.callee)) ?? "");
}

/** One writer at a time, from the first look to the commit: two that look at once cannot both write. */
const sqlite = /^(better-sqlite3|node:sqlite|bun:sqlite|libsql)$/;

/** Whether both stand in one transaction of SQLite. */
export function areInOneOfSqlite(names: Names, one: Node, other: Node): boolean {
  for (const each of ancestors(one)) {
    if (!isCall(each) || !isWithin(other, each)) continue;
    const callee = bare(each.callee);
    if (!/^transaction(Sync)?$/.test(memberName(callee) ?? "") || callee.type !== "MemberExpression") continue;
    const { module } = names.sourceOf(callee.object);
    if (module !== null && sqlite.test(module)) return true;
  }
  return false;
}

/** An insert that fails the second time: the row is named by a key. */
export function isMark(names: Names, { node, table, sql }: Statement): boolean {
  if (marker.test(table ?? "")) return true;
  if (
    sql !== null &&
    marker.test(
      /\(([^)]*)\)/
        .exec(sql)?.[1]
        ?.split(",")
        .map((each) => each.trim())
        .find((each) => marker.test(each)) ?? "",
    )
  )
    return true;
  const given = isCall(node)
    ? [...argumentsOf(node), ...chainOf(node).flatMap(({ call }) => (call === null ? [] : argumentsOf(call)))]
    : [...childrenOf(node)];
  return given.some((each) => hasProperty(names, each, marker));
}
