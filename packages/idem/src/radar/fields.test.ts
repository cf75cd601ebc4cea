import { expect, test } from "vitest";
import { entitiesOf, fieldsOf, isAmount, isDelivery, isIdentity } from "./fields.ts";

const field = (name: string, value: string | number) => ({ path: `event.data.${name}`, name, value });

test.each([
  ["placementId", 7],
  ["order_id", "a"],
  ["orderID", "a"],
  ["invoiceNumber", 12],
  ["uuid", "x"],
  ["paymentReference", "RF18"],
  ["customer", "cus_NffrFeUfNV2Hib"],
  ["cart", "3f2b6c1e-8d4a-4c1b-9e2f-4d5e6f708192"],
])("%s is an identity", (name, value) => {
  expect(isIdentity(field(name, value))).toBe(true);
});

test.each([
  ["paid", "yes"],
  ["status", "pending"],
  ["billRate", 80],
  ["createdAt", 1_700_000_000_000],
  ["valid", 1],
  ["orderId", ""],
  ["ratioId", 0.5],
])("%s (%s) is none", (name, value) => {
  expect(isIdentity(field(name, value))).toBe(false);
});

test("amounts, deliveries and entities are known by their names", () => {
  expect(isAmount(field("totalAmount", 5))).toBe(true);
  expect(isDelivery(field("eventId", "x"))).toBe(true);
  expect(isDelivery(field("orderId", "x"))).toBe(false);
  expect(["placementId", "company_id", "boxNumber", "id"].map(entitiesOf)).toEqual([
    "placements",
    "companies",
    "boxes",
    "values of id",
  ]);
});

test("lists and deep values have no path a key could name; a payload of any size costs a bounded walk", () => {
  expect(fieldsOf({ items: [{ id: 1 }], a: { b: { c: { d: { e: 1 } } } } })).toEqual([]);
  const large = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`f${i}`, i]));
  expect(fieldsOf(large)).toHaveLength(100);
});
