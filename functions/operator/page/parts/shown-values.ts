// Formats values for people. A value that does not apply is a dash.
import { type CountedUnits, unitsText } from '../../../../shared/foundation/constants/index.ts';

export const none = '–';

interface Cost {
  readonly cost_usd: string;
  readonly byok_cost_usd: string;
}

/** Returns the spend without the amounts that callers paid with their own provider keys. */
export const spendOf = ({ cost_usd, byok_cost_usd }: Cost): number => Number(cost_usd) - Number(byok_cost_usd);

export const hasByok = ({ byok_cost_usd }: Cost): boolean => Number(byok_cost_usd) > 0;

export const count = (value: number | null): string => (value === null ? none : value.toLocaleString('en'));

interface Counted {
  readonly units: CountedUnits | null;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

/** Returns the tokens of a call, or the units by which it is counted in place of tokens. */
export const countedOf = ({ units, prompt_tokens, completion_tokens }: Counted): string =>
  units === null ? count(prompt_tokens + completion_tokens) : unitsText(units);

export function duration(ms: number | null): string {
  if (ms === null) return none;
  return ms < 10_000 ? `${Math.round(ms).toLocaleString('en')} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

/** Formats a value of a column, which has one unit. */
export const milliseconds = (ms: number | null): string => (ms === null ? none : `${count(Math.round(ms))} ms`);

export const share = (part: number, whole: number): string =>
  whole === 0 ? none : `${((100 * part) / whole).toFixed(part === 0 || part === whole ? 0 : 1)} %`;

const timeFormat: Intl.DateTimeFormatOptions = {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
};

/** Formats an instant in the time zone of the reader. */
export const time = (instant: string | null): string =>
  instant === null ? none : new Intl.DateTimeFormat('sv', timeFormat).format(new Date(instant));

/** Formats an instant: `18:04:07` within the last day, `Nov 22 18:04` on another day. */
export function shortTime(instant: string, nowMs: number): string {
  const [day = '', clock = ''] = time(instant).split(' ');
  if (Math.abs(nowMs - Date.parse(instant)) < dayMs && day === time(new Date(nowMs).toISOString()).split(' ')[0]) {
    return clock;
  }
  const [year = '', month = '', date = ''] = day.split('-');
  const isThisYear = year === String(new Date(nowMs).getFullYear());
  return `${isThisYear ? '' : `${year} `}${months[Number(month) - 1]} ${date} ${clock.slice(0, 'hh:mm'.length)}`;
}

const dayMs = 86_400_000;
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Writes tags as in a header: `team=search, feature=rerank`. */
export const tagPairs = (tags: Readonly<Record<string, string>>): string =>
  Object.entries(tags)
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
