// What may be done with the calls that are shown: read them again, keep reading, take all of them along.
import { useEffect, useState } from 'preact/hooks';
import { downloadCsv, RequestFailed } from '../connection/management.ts';
import { Failure } from '../parts/states.tsx';

const liveEveryMs = 5_000;

export const CallActions = ({ path, reload }: { readonly path: string; readonly reload: () => void }) => {
  const [isLive, setIsLive] = useState(false);
  const [failure, setFailure] = useState<RequestFailed>();
  useEffect(() => {
    if (!isLive) return;
    // A page behind others reads nothing.
    const timer = setInterval(() => document.visibilityState === 'visible' && reload(), liveEveryMs);
    return () => clearInterval(timer);
  }, [isLive, reload]);
  const takeAll = async () => {
    setFailure(undefined);
    try {
      await downloadCsv(path, 'calls.csv');
    } catch (error) {
      if (!(error instanceof RequestFailed)) throw error;
      setFailure(error);
    }
  };
  return (
    <span class="actions">
      <button type="button" onClick={reload}>
        Refresh
      </button>
      <button type="button" aria-pressed={isLive} onClick={() => setIsLive((last) => !last)}>
        {isLive ? 'Live ●' : 'Live'}
      </button>
      <button type="button" onClick={() => void takeAll()}>
        CSV
      </button>
      {failure && <Failure failure={failure} />}
    </span>
  );
};
