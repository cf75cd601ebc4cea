// The browser comes packed in its package and is unpacked at its first use: once, before two files of tests do it at the same time.
import chromium from "@sparticuz/chromium";

export const setup = async (): Promise<void> => {
  await chromium.executablePath();
};
