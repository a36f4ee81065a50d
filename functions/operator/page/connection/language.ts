// Replaces an invalid language. A browser on a machine without a language may report `en-US@posix`, and code that
// formats numbers or dates for that language throws. This file is loaded before all other code.
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
}

export {};
