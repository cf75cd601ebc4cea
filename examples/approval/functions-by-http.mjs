// The function, for `idem verify`, over HTTP. Its queue is a table, which the verifier does not watch yet: it says so.
import { Idem } from "idem";
import { outsideByHttp } from "../double-invoice/outside-by-http.mjs";
import { invoicePlacement } from "./invoice-placement.mjs";

invoicePlacement(new Idem({ id: "approvals" }), { ...outsideByHttp, queue: { adapter: null } });
