// A browser on a machine without a language may call its own `en-US@posix`, which is no language tag: code that formats numbers or
// dates for it throws. Loaded before all other code.
try {
  Intl.getCanonicalLocales(navigator.language);
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true });
}

export {};
