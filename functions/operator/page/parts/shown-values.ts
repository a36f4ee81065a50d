// Values as people read them. What does not apply is a dash.

export const none = '–';

/** Small amounts keep the digits that say something: 0.0000042 is not 0.00. */
export function usd(text: string | null): string {
  if (text === null) return none;
  const amount = Number(text);
  if (amount === 0) return '$0';
  const digits =
    Math.abs(amount) >= 1 ? { maximumFractionDigits: 2, minimumFractionDigits: 2 } : { maximumSignificantDigits: 3 };
  return `${amount < 0 ? '−' : ''}$${new Intl.NumberFormat('en', { ...digits, useGrouping: true }).format(Math.abs(amount))}`;
}

export const count = (value: number | null): string => (value === null ? none : value.toLocaleString('en'));

export function duration(ms: number | null): string {
  if (ms === null) return none;
  return ms < 10_000 ? `${Math.round(ms).toLocaleString('en')} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

export const share = (part: number, whole: number): string =>
  whole === 0 ? none : `${((100 * part) / whole).toFixed(part === 0 || part === whole ? 0 : 1)} %`;

const timeForm: Intl.DateTimeFormatOptions = {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
};

/** In the time zone of the reader. */
export const time = (instant: string | null): string =>
  instant === null ? none : new Intl.DateTimeFormat('sv', timeForm).format(new Date(instant));
