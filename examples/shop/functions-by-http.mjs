// The shop's functions that need no database, for `idem verify`, with the clients the shop itself has.
import { Idem } from "idem";
import { chargeLater } from "./charge-later.mjs";
import { stripeClient } from "./outside-clients.mjs";

chargeLater(new Idem({ id: "charges" }), stripeClient("https://stripe.example"));
