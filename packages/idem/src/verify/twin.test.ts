import { expect, test } from "vitest";
import { entityField, otherFields, withAnother } from "./twin.ts";

test.each([
  ["crm/placement.made", { clientId: "c3", placementId: "7" }, "placementId"],
  ["crm/placements.made", { clientId: "c3", placementId: "7" }, "placementId"],
  ["shop/order.paid", { customer: { id: "c3" }, order: { id: "o7" } }, "order.id"],
  ["shop/paid", { name: "ann", id: 7 }, "id"],
  ["shop/paid", { plan: "pro", userId: "u7" }, "userId"],
  ["user/upgraded", { plan: "pro", user_id: "u7" }, "user_id"],
])("of %s with %j the entity is named by %s", (name, data, field) => {
  expect(entityField(name, data, null)).toBe(field);
});

test("what the user declares is believed, and without an id-like field there is no entity", () => {
  expect(entityField("crm/placement.made", { placementId: "7", shelf: "a" }, "shelf")).toBe("shelf");
  expect(entityField("shop/refreshed", { depth: 3, shelves: "all" }, null)).toBeNull();
});

test("the twin has another value there, and wherever the data says the same", () => {
  const data = { placementId: "7", lines: [{ of: "7", price: 5 }], clientId: "c3" };
  expect(withAnother(data, "placementId")).toEqual({
    placementId: "7-twin",
    lines: [{ of: "7-twin", price: 5 }],
    clientId: "c3",
  });
  expect(withAnother({ order: { id: 7 } }, "order.id")).toEqual({ order: { id: 8 } });
  expect(withAnother({ email: "ann@example.com" }, "email")).toEqual({ email: "twin-ann@example.com" });
});

test("fields that are not the entity's and can be another are the ones that change", () => {
  const data = { placementId: "7", clientId: "c3", isNew: true, lines: [1], note: null };
  expect(otherFields(data, "placementId")).toEqual(["clientId", "isNew"]);
});
