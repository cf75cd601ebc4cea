// Every door over a user's own databases. Keys in memory are what the tests of single doors use.
import { sqlKeys } from "../../keys/sql-keys.ts";
import { eachDatabase } from "../../sql/databases.suite.ts";
import { doorSuite } from "./doors.suite.ts";
import { prepareFile } from "./served-doors.suite.ts";

prepareFile();

eachDatabase((open) => {
  doorSuite(async () => sqlKeys((await open()).adapter));
});
