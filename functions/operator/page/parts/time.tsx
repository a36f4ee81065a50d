import { none, shortTime, time } from './shown-values.ts';

/** Short, with all of it on hover. */
export const Time = ({ instant }: { readonly instant: string | null }) =>
  instant === null ? (
    <span>{none}</span>
  ) : (
    <time class="time" dateTime={instant} title={`${time(instant)} (${instant})`}>
      {shortTime(instant, Date.now())}
    </time>
  );
