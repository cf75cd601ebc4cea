// The function as it was deployed, for `idem verify`: act 1's.
import { Idem } from "idem";
import { draftInvoice } from "./draft-invoice.mjs";
import { outsideByHttp } from "./outside-by-http.mjs";

const idem = new Idem({ id: "agency" });
draftInvoice(idem, { id: "draft-invoice" }, outsideByHttp);
