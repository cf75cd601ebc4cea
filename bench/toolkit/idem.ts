// The built toolkit, by what users import.
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type * as Express from "../../packages/idem/dist/express.js";
import type * as Http from "../../packages/idem/dist/http.js";
import type * as Sql from "../../packages/idem/dist/sql.js";
import { root } from "../machine.ts";

const load = (file: string): Promise<any> => import(pathToFileURL(join(root, "packages", "idem", "dist", file)).href);

export const { idempotency, respond, sameTransaction, sqlKeys } = (await load("http.js")) as typeof Http;
export type { FetchHandler, IdempotencyKeyOptions, KeyAsk, KeyStore } from "../../packages/idem/dist/http.js";
export const { ensureTables, pgAdapter, sqliteAdapter } = (await load("sql.js")) as typeof Sql;
export type { Adapter } from "../../packages/idem/dist/sql.js";
export const { idempotent, keepRawBody } = (await load("express.js")) as typeof Express;
