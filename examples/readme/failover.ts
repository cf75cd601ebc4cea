// The code of docs/failover.md.
import { Idem } from "idem";

// #region store-timeout
const idem = new Idem({ id: "shop", store: "postgres://idem@db.internal/shop", storeTimeout: "45s" });

// #endregion

export { idem };
