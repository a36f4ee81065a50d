// Runs the test cases of a revision with an API key of its workspace, and shows how each was judged.
import { useState } from 'preact/hooks';
import { runCases } from '../connection/cases-run.ts';
import type { Cases } from '../connection/documents.ts';
import { RequestFailed } from '../connection/management.ts';
import { useBaseUrl } from '../connection/settings.ts';
import { Field } from '../parts/field.tsx';
import { none } from '../parts/shown-values.ts';
import { Failure } from '../parts/states.tsx';
import { Table } from '../parts/table.tsx';

interface CaseResultsProperties {
  readonly workspace: string;
  readonly functionId: string;
  readonly revision: string;
  /** It serves once they were passed. */
  readonly activates: boolean;
  readonly qualified: () => void;
}

export const CaseResults = ({ workspace, functionId, revision, activates, qualified }: CaseResultsProperties) => {
  const baseUrl = useBaseUrl();
  const [cases, setCases] = useState<Cases>();
  const [failure, setFailure] = useState<RequestFailed>();
  const [isRunning, setIsRunning] = useState(false);
  const start = async (form: HTMLFormElement) => {
    const key = String(new FormData(form).get('api-key')).trim();
    setIsRunning(true);
    setFailure(undefined);
    setCases(undefined);
    try {
      let last: Cases | undefined;
      await runCases({ workspace, functionId, revision, baseUrl, key }, (told) => {
        last = told;
        setCases(told);
      });
      if (last?.is_qualified) qualified();
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      setFailure(error);
    } finally {
      setIsRunning(false);
    }
  };
  return (
    <section aria-label={`Cases of ${revision}`}>
      <h2>Cases of {revision}</h2>
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          void start(event.currentTarget);
        }}
      >
        <Field title={`API key of ${workspace}`}>
          <input name="api-key" type="password" required autocomplete="off" placeholder="sk-gw-…" />
        </Field>
        <button type="submit" class="main" disabled={isRunning}>
          Run
        </button>
      </form>
      <p class="muted">
        The calls are real, and cost what they cost. Once all cases pass, the revision{' '}
        {activates ? 'serves' : 'may be activated'}.
      </p>
      {failure && <Failure failure={failure} />}
      {cases && (
        <div aria-busy={isRunning}>
          {cases.is_qualified && <p role="status">All cases passed: {revision} is qualified.</p>}
          <Table
            caption="Cases"
            rows={cases.cases}
            keyOf={({ number }) => String(number)}
            empty="This revision has no cases."
            columns={[
              { title: 'Case', isNumber: true, show: ({ number }) => number },
              { title: 'Result', show: ({ state }) => state },
              { title: 'Why', show: ({ problem }) => problem ?? none },
              { title: 'Answer', show: ({ answer }) => answer ?? none },
            ]}
          />
        </div>
      )}
    </section>
  );
};
