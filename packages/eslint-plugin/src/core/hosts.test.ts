import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { hostNamed, hosts } from "./providers.ts";

interface Destinations {
  destinationAt(host: string): { readonly name: string; readonly place: unknown } | null;
}

test("a host takes a key here if it does in Idem's own table of destinations", async () => {
  const modules = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..", "idem", "modules");
  const { destinationAt } = (await import(join(modules, "dedup", "destination-hosts.js"))) as Destinations;
  for (const host of Object.keys(hosts)) {
    const named = host.startsWith(".") ? `any${host}` : host;
    expect([named, hostNamed(named)?.takesKey]).toEqual([named, destinationAt(named)?.place != null]);
  }
  expect(hostNamed("crm.example")).toBeNull();
});
