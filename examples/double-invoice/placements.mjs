// 73 placements, the number of the Friday in May, and what Bullhorn fires for each: the same on every machine.

const families = [
  "Van Dijk",
  "De Boer",
  "Jansen",
  "Bakker",
  "Visser",
  "Smit",
  "Mulder",
  "Dekker",
  "Brouwer",
  "De Wit",
  "Hoekstra",
  "Kuipers",
  "Postma",
];
const trades = ["Logistics", "Engineering", "Care Group", "Foods", "Software", "Installations"];
const placementCount = 73;
const firstPlacementId = 1042;

export const placements = Array.from({ length: placementCount }, (_, i) => {
  const hours = 16 + ((i * 7) % 25);
  const centsPerHour = 5_200 + ((i * 37) % 60) * 50;
  return {
    id: firstPlacementId + i,
    client: `${families[i % families.length]} ${trades[i % trades.length]}`,
    clientStripeId: `cus_${(0x5eed + i * 2_654_435_761).toString(36)}`,
    amountCents: hours * centsPerHour,
  };
});

const eventName = "bullhorn/placement.event";

/**
 * What Bullhorn fires when a placement is saved: INSERTED, and UPDATED within the same second, because it writes derived
 * fields on save. Neither carries an id: to the receiver they are two different facts.
 */
export const webhooks = placements.flatMap(({ id }, i) => {
  const insertedAtMs = i * 50;
  const updatedAtMs = insertedAtMs + 90 + ((i * 131) % 800);
  return [
    { atMs: insertedAtMs, event: { name: eventName, data: { placementId: id, eventType: "INSERTED" } } },
    { atMs: updatedAtMs, event: { name: eventName, data: { placementId: id, eventType: "UPDATED" } } },
  ];
});

export function euros(cents) {
  return `€${(cents / 100).toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
}
