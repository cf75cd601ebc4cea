// Stripe as far as the articles call it. A create with an idempotency key happens once: the same key answers with the
// first object for 24 hours, and refuses other parameters, as the real one does.

interface Charge {
  readonly id: string;
  readonly amount: number;
  readonly currency: string;
  readonly source: string;
}

interface Customer {
  readonly id: string;
  readonly email: string;
  readonly metadata: Record<string, string>;
}

interface PaymentIntent {
  readonly id: string;
  readonly amount: number;
  readonly currency: string;
  readonly customer: string;
}

interface StripeSubscription {
  readonly id: string;
  readonly customer: string;
  readonly items: readonly { readonly price: string }[];
}

interface StripeInvoice {
  readonly id: string;
  readonly customer: string;
  readonly collection_method: "send_invoice" | "charge_automatically";
  readonly days_until_due: number;
  readonly metadata: Record<string, string | number>;
}

export class Stripe {
  readonly charges: StripeObjects<Charge>;
  readonly customers: Customers;
  readonly paymentIntents: StripeObjects<PaymentIntent>;
  readonly subscriptions: StripeObjects<StripeSubscription>;
  readonly invoices: StripeObjects<StripeInvoice>;

  constructor(now: () => number) {
    const keys = new IdempotencyKeys(now);
    this.charges = new StripeObjects("ch", keys);
    this.customers = new Customers("cus", keys);
    this.paymentIntents = new StripeObjects("pi", keys);
    this.subscriptions = new StripeObjects("sub", keys);
    this.invoices = new StripeObjects("in", keys);
  }
}

class StripeObjects<Created extends { readonly id: string }> {
  /** What exists at Stripe. */
  readonly all: Created[] = [];
  /** How often Stripe was asked to create one. */
  requestCount = 0;
  private answerIsLost = false;

  constructor(
    private readonly prefix: string,
    private readonly keys: IdempotencyKeys,
  ) {}

  /** The next create happens, but its answer never arrives. */
  loseNextAnswer(): void {
    this.answerIsLost = true;
  }

  async create(params: Omit<Created, "id">, options: { readonly idempotencyKey?: string } = {}): Promise<Created> {
    this.requestCount++;
    const answer = this.keys.answer(options.idempotencyKey, JSON.stringify([this.prefix, params]), () => {
      const created = { id: `${this.prefix}_${this.all.length + 1}`, ...params } as Created;
      this.all.push(created);
      return created;
    });
    if (!this.answerIsLost) return answer;
    this.answerIsLost = false;
    throw new Error("socket hang up");
  }
}

class Customers extends StripeObjects<Customer> {
  async list({ email, limit }: { readonly email: string; readonly limit: number }): Promise<{ data: Customer[] }> {
    return { data: this.all.filter((customer) => customer.email === email).slice(0, limit) };
  }
}

class IdempotencyKeys {
  private readonly first = new Map<string, { readonly request: string; readonly answer: any; readonly at: number }>();

  constructor(private readonly now: () => number) {}

  answer<Answer>(key: string | undefined, request: string, create: () => Answer): Answer {
    if (key === undefined) return create();
    const first = this.first.get(key);
    if (first !== undefined && this.now() - first.at < 24 * 60 * 60 * 1000) {
      if (first.request !== request) throw new Error(`Key ${key} was first used with other parameters`);
      return first.answer;
    }
    const answer = create();
    this.first.set(key, { request, answer, at: this.now() });
    return answer;
  }
}
