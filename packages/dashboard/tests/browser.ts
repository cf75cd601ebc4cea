// A real Chromium, one for each file of tests. Every page that is opened is watched: a script that broke, a request to elsewhere or
// something the page's policy refused fails the test that looks at it.
import chromium from "@sparticuz/chromium";
import { type Browser, type Page, chromium as playwright } from "playwright-core";

export interface Look {
  readonly width: 1280 | 390;
  readonly theme: "light" | "dark";
}

export const allLooks: readonly Look[] = [
  { width: 1280, theme: "light" },
  { width: 1280, theme: "dark" },
  { width: 390, theme: "light" },
  { width: 390, theme: "dark" },
];

/** Both themes and both sizes in two looks; with ALL_LOOKS=1 the four of them. */
export const looks: readonly Look[] = process.env.ALL_LOOKS === "1" ? allLooks : [allLooks[0]!, allLooks.at(-1)!];

// What suits a small function in the cloud and not a test: one process for all falls with its first closed page, and without web
// security the rules under test would not hold.
const unwanted =
  /^--(single-process|no-zygote|disable-web-security|allow-running-insecure-content|disable-site-isolation-trials)/;

export const openBrowser = async (): Promise<Browser> =>
  playwright.launch({
    executablePath: await chromium.executablePath(),
    args: [...chromium.args.filter((each) => !unwanted.test(each)), "--hide-scrollbars"],
    headless: true,
  });

export interface WatchedPage extends Page {
  /** What went wrong behind the scenes. */
  readonly troubles: readonly string[];
}

export async function openPage(
  browser: Browser,
  url: string,
  { width, theme }: Look = looks[0]!,
): Promise<WatchedPage> {
  const context = await browser.newContext({
    viewport: { width, height: width === 1280 ? 800 : 844 },
    deviceScaleFactor: 1,
    colorScheme: theme,
    reducedMotion: "reduce",
    hasTouch: width === 390,
    timezoneId: "Europe/Amsterdam",
    locale: "en-GB",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const page = await context.newPage();
  const troubles: string[] = [];
  page.on("pageerror", (error) => troubles.push(`script: ${error.message}`));
  page.on("console", (message) => {
    // A refused request is the page's business: it says so in words.
    if (message.type() === "error" && !/Failed to load resource/.test(message.text())) troubles.push(message.text());
  });
  page.on("request", (request) => {
    if (new URL(request.url()).origin !== new URL(url).origin && !/^(data|blob):/.test(request.url()))
      troubles.push(`elsewhere: ${request.url()}`);
  });
  await page.goto(url);
  return Object.assign(page, { troubles });
}

/** The same page in another size and theme; quicker than opening it anew. */
export async function wear(page: Page, { width, theme }: Look): Promise<void> {
  await page.setViewportSize({ width, height: width === 1280 ? 800 : 844 });
  await page.emulateMedia({ colorScheme: theme });
}

/** True when something reaches over the right edge: the page would scroll sideways. */
export const scrollsSideways = (page: Page): Promise<boolean> =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
