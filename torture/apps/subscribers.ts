// Subscribers of realtime that come back with their last place whenever their line is lost, to whichever node the balancer gives them. The
// messages each heard are judged in the end: nothing twice, nothing out of order, nothing missing without a gap that was announced.
import { setTimeout as wait } from "node:timers/promises";
import { WebSocket } from "ws";

export const channel = "torture";
export const topic = "numbers";

export interface Heard {
  readonly n: number;
  readonly place: number;
}

export abstract class Subscriber {
  readonly heard: Heard[] = [];
  readonly gaps: { readonly after: number; readonly upTo: number }[] = [];
  lines = 0;
  protected place: string | null = null;
  protected isOver = false;
  private over: Promise<void> = Promise.resolve();

  constructor(
    readonly name: string,
    protected readonly origin: string,
    private readonly signingKey: string,
  ) {}

  /** Resolves once it hears, for the first time. */
  async start(): Promise<void> {
    this.over = this.comeBack();
    while (this.place === null) await wait(50);
  }

  async stop(): Promise<void> {
    this.isOver = true;
    this.leave();
    await this.over;
  }

  private async comeBack(): Promise<void> {
    while (!this.isOver) {
      try {
        this.lines++;
        await this.listen(await this.token());
      } catch {
        // No node, or one that just died.
      }
      if (!this.isOver) await wait(100);
    }
  }

  private async token(): Promise<string> {
    const answer = await fetch(`${this.origin}/v1/realtime/token`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${this.signingKey}` },
      body: JSON.stringify([{ channel, name: topic }]),
    });
    if (!answer.ok) throw new Error(`a token was refused with ${answer.status}`);
    return ((await answer.json()) as { jwt: string }).jwt;
  }

  /** Until the line is lost. */
  protected abstract listen(token: string): Promise<void>;
  protected abstract leave(): void;

  protected take(frame: string): void {
    const { kind, data, place } = JSON.parse(frame) as { kind: string; data?: any; place?: string };
    if (kind === "data") this.heard.push({ n: data.n, place: Number(place) });
    if (kind === "gap") this.gaps.push({ after: data.after, upTo: data.up_to });
    if (place !== undefined) this.place = place;
  }
}

export class SocketSubscriber extends Subscriber {
  private socket: WebSocket | null = null;

  protected listen(token: string): Promise<void> {
    const from = this.place === null ? "" : `&from=${this.place}`;
    const socket = new WebSocket(`${this.origin.replace("http", "ws")}/v1/realtime/connect?token=${token}${from}`);
    this.socket = socket;
    socket.on("message", (data) => this.take(String(data)));
    socket.on("error", () => {});
    return new Promise((resolve) => socket.once("close", () => resolve()));
  }

  protected leave(): void {
    this.socket?.terminate();
  }
}

/** As a browser's EventSource does it. */
export class EventSubscriber extends Subscriber {
  private readonly leaving = new AbortController();

  protected async listen(token: string): Promise<void> {
    const headers: Record<string, string> = this.place === null ? {} : { "last-event-id": this.place };
    const answer = await fetch(`${this.origin}/v1/realtime/sse?token=${token}`, {
      headers,
      signal: this.leaving.signal,
    });
    if (!answer.ok) throw new Error(`refused with ${answer.status}`);
    let text = "";
    const decoder = new TextDecoder();
    for await (const piece of answer.body!) {
      text += decoder.decode(piece, { stream: true });
      const events = text.split("\n\n");
      text = events.pop()!;
      for (const event of events) this.takeEvent(event);
    }
  }

  private takeEvent(event: string): void {
    for (const line of event.split("\n")) {
      if (line.startsWith("data: ")) this.take(line.slice(6));
      if (line.startsWith("id: ")) this.place = line.slice(4);
    }
  }

  protected leave(): void {
    this.leaving.abort();
  }
}
