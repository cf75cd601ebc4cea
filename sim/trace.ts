// A world's history as lines: hashed whole, so that two runs of a seed can be compared, and kept at the end, so that a failure can be read.
import { hashText } from "./random.ts";

export class Trace {
  private low = 0x811c9dc5;
  private high = 0x9747b28c;
  private readonly lines: string[] = [];
  count = 0;

  constructor(private readonly kept: number) {}

  add(atMs: number, who: string, what: string): void {
    const line = `${atMs.toFixed(3).padStart(12)} ${who.padEnd(6)} ${what}`;
    this.low = hashText(line, this.low);
    this.high = hashText(line, this.high ^ this.low);
    this.count++;
    if (this.kept === 0) return;
    this.lines.push(line);
    if (this.lines.length > this.kept * 2) this.lines.splice(0, this.lines.length - this.kept);
  }

  get hash(): string {
    return this.high.toString(16).padStart(8, "0") + this.low.toString(16).padStart(8, "0");
  }

  tail(): readonly string[] {
    return this.lines.slice(-this.kept);
  }
}
