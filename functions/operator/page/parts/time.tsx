import type { ComponentChildren } from 'preact';
import { none, shortTime, time } from './shown-values.ts';

/** Shows a short time, with the full time on hover. */
export const Time = ({ instant }: { readonly instant: string }) => (
  <time class="time" dateTime={instant} title={`${time(instant)} (${instant})`}>
    {shortTime(instant, Date.now())}
  </time>
);

/** Shows a time in a table. A dash means "does not apply", as in all tables. */
export const timeOrNone = (instant: string | null): ComponentChildren =>
  instant === null ? none : <Time instant={instant} />;
