// The recruiters' system. Saving a placement fires INSERTED and, as derived fields are written, UPDATED right after it.

interface Placement {
  readonly id: number;
  readonly clientStripeId: string;
}

interface PlacementEvent {
  readonly name: "bullhorn/placement.event";
  readonly data: { readonly placementId: number; readonly eventType: "INSERTED" | "UPDATED" };
}

export class Bullhorn {
  private readonly saved = new Map<number, Placement>();

  readonly placements = {
    get: async (id: number): Promise<Placement> => {
      const placement = this.saved.get(id);
      if (placement === undefined) throw new Error(`Bullhorn has no placement ${id}`);
      return placement;
    },
  };

  /** What the subscription to INSERTED and UPDATED delivers for one saved placement. */
  save(placement: Placement): readonly [PlacementEvent, PlacementEvent] {
    this.saved.set(placement.id, placement);
    const event = (eventType: "INSERTED" | "UPDATED"): PlacementEvent => ({
      name: "bullhorn/placement.event",
      data: { placementId: placement.id, eventType },
    });
    return [event("INSERTED"), event("UPDATED")];
  }
}
