// Shows the states of a view without data: while data are requested, and after a failure.
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import type { LoadState, RequestFailed } from '../connection/management.ts';
import { Button } from './button.tsx';

interface FailureProperties {
  /** Shows nothing if undefined. */
  readonly failure: RequestFailed | undefined;
  readonly retry?: () => unknown;
}

/** Shows the failure and offers another try. After a button or a form, it is scrolled into view. */
export const Failure = ({ failure, retry }: FailureProperties) => {
  const shown = useRef<HTMLDivElement>(null);
  const wasRequested = retry === undefined;
  useLayoutEffect(() => {
    if (failure !== undefined && wasRequested) shown.current?.scrollIntoView({ block: 'nearest' });
  }, [failure, wasRequested]);
  return (
    failure && (
      <div ref={shown} class="failure" role="alert">
        <p>
          {failure.message} <code class="muted">{failure.code}</code>
        </p>
        {retry && <Button text="Try again" onClick={retry} />}
      </div>
    )
  );
};

/** Shows that data are being read, in another way than an empty list. */
export const Reading = () => (
  <p role="status" class="reading">
    Reading …
  </p>
);

interface ShownProperties<Answer> {
  readonly loaded: LoadState<Answer>;
  readonly children: (answer: Answer) => ComponentChildren;
}

/** Shows the answer. The answer stays visible while it is requested again. */
export function Shown<Answer>({ loaded: { answer, failure, isLoading, reload }, children }: ShownProperties<Answer>) {
  if (failure !== undefined) return <Failure failure={failure} retry={reload} />;
  return <div aria-busy={isLoading}>{answer === undefined ? <Reading /> : children(answer)}</div>;
}
