import type { ComponentChildren } from 'preact';
import { none, shortTime, time } from './shown-values.ts';

/** Short, with all of it on hover. */
export const Time = ({ instant }: { readonly instant: string }) => (
  <time class="time" dateTime={instant} title={`${time(instant)} (${instant})`}>
    {shortTime(instant, Date.now())}
  </time>
);

/** In a table, where what does not apply is known as such. */
export const timeOrNone = (instant: string | null): ComponentChildren =>
  instant === null ? none : <Time instant={instant} />;
