import { historyOver } from "../rules/history-reads.ts";
import { driveAtOnce } from "../rules/rule.ts";
import type { Connection } from "./connection.ts";
import { RuleDatabase } from "./rule-database.ts";

/** The last days' rows, for tools. */
export const historyOf = (connection: Connection) => historyOver(new RuleDatabase(connection), driveAtOnce);
