// What a view shows while it has nothing to show yet, or could not get it.
import type { ComponentChildren } from 'preact';
import type { Loaded, RequestFailed } from '../connection/management.ts';

/** Says what went wrong and offers to try again. */
export const Failure = ({ failure, retry }: { readonly failure: RequestFailed; readonly retry?: () => void }) => (
  <div class="failure" role="alert">
    <p>
      <strong>{failure.code}</strong> {failure.message}
    </p>
    {retry && (
      <button type="button" onClick={retry}>
        Try again
      </button>
    )}
  </div>
);

/** Told from nothing there: what is empty has another dress. */
export const Reading = () => (
  <p role="status" class="reading">
    Reading …
  </p>
);

interface ShownProperties<Answer> {
  readonly loaded: Loaded<Answer>;
  readonly children: (answer: Answer) => ComponentChildren;
}

/** An answer that is being read again stays where it is. */
export function Shown<Answer>({ loaded: { answer, failure, isLoading, reload }, children }: ShownProperties<Answer>) {
  if (failure !== undefined) return <Failure failure={failure} retry={reload} />;
  return <div aria-busy={isLoading}>{answer === undefined ? <Reading /> : children(answer)}</div>;
}
