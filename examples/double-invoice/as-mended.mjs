// The function with its key, for `idem verify`: that of acts 2 and 3.
import { Idem } from "idem";
import { draftInvoice } from "./draft-invoice.mjs";
import { outsideByHttp } from "./outside-by-http.mjs";

const idem = new Idem({ id: "agency" });
draftInvoice(idem, { id: "draft-invoice", idempotency: "event.data.placementId" }, outsideByHttp);
