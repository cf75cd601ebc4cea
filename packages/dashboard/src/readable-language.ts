// Some browsers on Linux say that their language is "en-US@posix", or nothing at all, which is none that Intl knows: whatever asks for its
// numbers by that name breaks, uPlot as soon as it is loaded. Such a browser is given a language; others keep theirs.

export function readableLanguage(language: string): string {
  try {
    new Intl.NumberFormat(language);
    return language;
  } catch {
    const [plain = ""] = language.split(/[@.]/);
    return plain === "" || plain === language ? "en-GB" : readableLanguage(plain.replaceAll("_", "-"));
  }
}

/** Before any page is loaded. */
export function startLanguage(): void {
  const language = readableLanguage(navigator.language);
  if (language !== navigator.language) Object.defineProperty(navigator, "language", { value: language });
}
