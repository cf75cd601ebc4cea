// Scrolling through many pages of runs in a real browser: how many rows are drawn at once, how often a frame came late, and whether the tab
// keeps what was scrolled past.
import chromium from "@sparticuz/chromium";
import { chromium as playwright } from "playwright-core";

export interface ScrollFacts {
  readonly pages: number;
  readonly frames: number;
  /** Frames that came more than 50 ms after the one before. */
  readonly lateFrames: number;
  readonly longestFrameMs: number;
  /** The most rows that were in the document at once. */
  readonly rowsDrawnMax: number;
  /** In megabytes, after collecting garbage: after a quarter of the way and at its end. */
  readonly heapMb: readonly [number, number];
}

// Options for a small function in the cloud, not for a browser that people look at. A graphics card made of software holds a frame for up
// to 0.5 s where none at all takes 33 ms.
const unwanted =
  /^--(single-process|no-zygote|use-gl|use-angle|enable-unsafe-swiftshader|ignore-gpu-blocklist|in-process-gpu)/;
const pxPerFrame = 400;

export async function scrollThrough(origin: string, pages: number, say: (line: string) => void): Promise<ScrollFacts> {
  const browser = await playwright.launch({
    executablePath: await chromium.executablePath(),
    args: [...chromium.args.filter((each) => !unwanted.test(each)), "--disable-gpu"],
    headless: true,
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    let read = 0;
    page.on("response", (response) => {
      if (response.url().includes("/api/groups?") && response.url().includes("before=")) read += 1;
    });
    await page.goto(`${origin}/runs?order=newest`);
    await page.locator(".row").first().waitFor({ timeout: 30_000 });
    const session = await page.context().newCDPSession(page);
    const heapMb = async () => {
      await session.send("HeapProfiler.collectGarbage");
      return (await session.send("Runtime.getHeapUsage")).usedSize / 2 ** 20;
    };
    const facts = { frames: 0, lateFrames: 0, longestFrameMs: 0, rowsDrawnMax: 0 };
    const heaps: number[] = [];
    for (const part of [0.25, 1]) {
      const until = Date.now() + 300_000;
      while (read < pages * part) {
        if (Date.now() > until) throw new Error(`only ${read} of ${pages} pages were read in 5 minutes`);
        const some = await page.evaluate(scrollFor, { frames: 60, pxPerFrame });
        facts.frames += some.frames;
        facts.lateFrames += some.lateFrames;
        facts.longestFrameMs = Math.max(facts.longestFrameMs, some.longestFrameMs);
        facts.rowsDrawnMax = Math.max(facts.rowsDrawnMax, some.rowsDrawnMax);
      }
      heaps.push(await heapMb());
      say(`scrolled ${read} of ${pages} pages`);
    }
    return { pages: read, ...facts, heapMb: [heaps[0]!, heaps[1]!] };
  } finally {
    await browser.close();
  }
}

/** In the page; programs here know no document. */
async function scrollFor({ frames, pxPerFrame: step }: { frames: number; pxPerFrame: number }) {
  const facts = { frames, lateFrames: 0, longestFrameMs: 0, rowsDrawnMax: 0 };
  const page = globalThis as any;
  const frame = () => new Promise<number>((resolve) => page.requestAnimationFrame(resolve));
  let before = await frame();
  for (let i = 0; i < frames; i++) {
    page.scrollBy(0, step);
    const now = await frame();
    facts.longestFrameMs = Math.max(facts.longestFrameMs, now - before);
    if (now - before > 50) facts.lateFrames += 1;
    before = now;
    facts.rowsDrawnMax = Math.max(facts.rowsDrawnMax, page.document.querySelectorAll(".list li.row").length);
  }
  return facts;
}
