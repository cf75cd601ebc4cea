// #region errors
import { Idem, IdemError } from "idem";

const idem = new Idem({ id: "shop" });
let advice = "";
try {
  await idem.send({ name: "", data: {} });
} catch (error) {
  if (error instanceof IdemError && error.code === "EVENT_INVALID") advice = error.next;
}

// #endregion

export { advice, idem };
