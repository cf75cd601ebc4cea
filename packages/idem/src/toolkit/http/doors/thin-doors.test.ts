// Doors that are thin over another one's way in keep every promise all the same.
import { memoryKeys } from "../../keys/memory-keys.ts";
import { doorSuite } from "./doors.suite.ts";
import { prepareFile, thinDoors } from "./served-doors.suite.ts";

prepareFile();

doorSuite(() => memoryKeys(), thinDoors);
