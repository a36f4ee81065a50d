// Replaces an invalid language: a browser on a machine without a language may report `en-US@posix`, and code that
// formats numbers or dates for it throws. This file is loaded before all other code.
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
}

export {};
