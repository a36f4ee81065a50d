// Starts the slowest suites first, even in a fresh clone, in which jest knows no times of an earlier run and sorts by
// size: a slow suite that begins last would extend the run while the other workers are idle.
import Sequencer from '@jest/test-sequencer';

/** Slow suites, the slowest first. A missing suite costs seconds of a run, and has no other effect. */
const longSuites = [
  'browser/browser',
  'infra/bundle-units',
  'infra/package',
  'infra/bundle',
  'flow/processes',
  'matrix/limits',
  'matrix/replays',
  'faults/storms',
  'kinds/answers',
  'fuzz/fuzz',
  'recorded/replay',
  'matrix/accounts',
  'matrix/deliveries',
  'matrix/guardrails',
  'flow/model-switch',
  'infra/deploy',
  'flow/json-faults',
  'cli/stage',
  'unit/formats/translated-answers',
  'faults/crashes',
  'flow/credential-pools',
  'flow/idempotency-calls',
  'clients/every-client',
  'infra/call-counts',
  'flow/forged-sound',
  'contract/openapi',
  'infra/bundle-forms',
  'cli/start',
].map((suite) => `/test/${suite}.test.ts`);

export default class LongestFirst extends Sequencer {
  sort(tests) {
    const rankOf = ({ path }) => {
      const rank = longSuites.findIndex((suite) => path.endsWith(suite));
      return rank === -1 ? longSuites.length : rank;
    };
    return super.sort(tests).toSorted((one, other) => rankOf(one) - rankOf(other));
  }
}
