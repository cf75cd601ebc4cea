// The function, for `idem verify`, with its outside over HTTP and its queue in a file that each world has a copy of.
import { Idem } from "idem";
import { outsideByHttp } from "../double-invoice/outside-by-http.mjs";
import { openQueue } from "./approval-queue.mjs";
import { invoicePlacement } from "./invoice-placement.mjs";

invoicePlacement(new Idem({ id: "approvals" }), { ...outsideByHttp, queue: await openQueue("approvals.db") });
