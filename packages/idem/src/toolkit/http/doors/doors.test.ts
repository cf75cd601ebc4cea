// Every door over every key store.
import { describe } from "vitest";
import { memoryKeys } from "../../keys/memory-keys.ts";
import { sqlKeys } from "../../keys/sql-keys.ts";
import { eachDatabase } from "../../sql/databases.suite.ts";
import { doorSuite } from "./doors.suite.ts";
import { prepareFile } from "./served-doors.suite.ts";

prepareFile();

describe("in memory", () => doorSuite(() => memoryKeys()));

eachDatabase((open) => {
  doorSuite(async () => sqlKeys((await open()).adapter));
});
