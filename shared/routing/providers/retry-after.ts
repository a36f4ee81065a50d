// When a provider wants to be called again. Three spellings are in use; a wait over a day is a fault, not a wish.
const retryAfterMaxSeconds = 86_400;

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Seconds from now, rounded up, at least 1. Undefined: it did not say, or what it said is no time. */
export function readRetryAfterSeconds(headers: Headers, nowMs: number): number | undefined {
  const milliseconds = Number(textOf(headers['retry-after-ms']) ?? Number.NaN);
  if (milliseconds > 0) return clamp(milliseconds / 1_000);
  const text = textOf(headers['retry-after']);
  if (text === undefined) return undefined;
  const seconds = Number(text);
  if (!Number.isNaN(seconds)) return seconds > 0 ? clamp(seconds) : undefined;
  const atMs = Date.parse(text);
  return atMs > nowMs ? clamp((atMs - nowMs) / 1_000) : undefined;
}

const textOf = (value: string | string[] | undefined): string | undefined => (Array.isArray(value) ? value[0] : value);

const clamp = (seconds: number): number => Math.min(Math.max(Math.ceil(seconds), 1), retryAfterMaxSeconds);
