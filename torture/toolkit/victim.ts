// A process of the shop, as it is killed: serves requests, and dies where the request says it should.

import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { type Death, Points } from "./points.ts";
import { deathsOf, type ShopPlace } from "./stores.ts";

const place: ShopPlace & { readonly serves?: "hooks" } = JSON.parse(process.argv[2]!);
const points = new Points(deathsOf(place.folder));
// Without the process that started it this one has no reason to live.
process.on("disconnect", () => process.exit(1));

const shop =
  place.serves === "hooks"
    ? await (await import("./hooks.ts")).openHooks(place, points)
    : await (await import("./shop.ts")).openShop(place, points);
const server = createAdaptorServer({
  fetch: async (request: Request) => {
    const death = request.headers.get("x-death");
    if (death !== null) points.expect(JSON.parse(death) as Death);
    points.reach("request");
    const response = await shop.handle(request);
    points.reach("answer");
    return response;
  },
});
server.listen(0, "127.0.0.1", () => process.send!((server.address() as AddressInfo).port));
