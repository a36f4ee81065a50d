// Runs the test cases of a revision with an API key of its workspace, and shows how each was judged.
import { useState } from 'preact/hooks';
import { runCases } from '../connection/cases-run.ts';
import type { Cases } from '../connection/documents.ts';
import { useBaseUrl } from '../connection/settings.ts';
import { Field } from '../parts/field.tsx';
import { Form, formValues } from '../parts/form.tsx';
import { Failure } from '../parts/states.tsx';
import { countColumn, Table, textColumn } from '../parts/table.tsx';
import { useRequests } from '../parts/use-requests.ts';

type Case = Cases['cases'][number];

interface CaseResultsProperties {
  readonly workspace: string;
  readonly functionId: string;
  readonly revision: string;
  /** Set where it becomes active once the cases passed. */
  readonly activates: boolean;
  readonly qualified: () => void;
}

export const CaseResults = ({ workspace, functionId, revision, activates, qualified }: CaseResultsProperties) => {
  const baseUrl = useBaseUrl();
  const [cases, setCases] = useState<Cases>();
  const { isRunning, failure, run } = useRequests();
  const start = async (form: HTMLFormElement) => {
    const key = formValues(form).text('api-key');
    setCases(undefined);
    const judged = await run(() => runCases({ workspace, functionId, revision, baseUrl, key }, setCases));
    if (judged?.is_qualified) qualified();
  };
  return (
    <section aria-label={`Cases of ${revision}`}>
      <h2>Cases of {revision}</h2>
      <Form class="filters" submit={start}>
        <Field title={`API key of ${workspace}`}>
          <input name="api-key" type="password" required autocomplete="off" placeholder="sk-gw-…" />
        </Field>
        <button type="submit" class="main" disabled={isRunning}>
          Run
        </button>
      </Form>
      <p class="muted">
        The calls are real, and cost what they cost. Once all cases pass, the revision{' '}
        {activates ? 'serves' : 'may be activated'}.
      </p>
      <Failure failure={failure} />
      {cases && (
        <div aria-busy={isRunning}>
          {cases.is_qualified && <p role="status">All cases passed: {revision} is qualified.</p>}
          <Table
            caption="Cases"
            rows={cases.cases}
            keyOf={({ number }) => String(number)}
            empty="This revision has no cases."
            columns={[
              countColumn<Case>('Case', ({ number }) => number),
              textColumn<Case>('Result', ({ state }) => state),
              textColumn<Case>('Why', ({ problem }) => problem),
              textColumn<Case>('Answer', ({ answer }) => answer),
            ]}
          />
        </div>
      )}
    </section>
  );
};
