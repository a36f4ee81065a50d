// Starts the suites that take longest first, also in a fresh clone, where jest knows no times of an earlier run and sorts
// by size: one that begins last would keep the run open while the other workers have nothing left.
import Sequencer from '@jest/test-sequencer';

/** Longest first. What it lacks costs seconds of a run, nothing else. */
const longSuites = [
  'infra/bundle-units',
  'browser/console',
  'infra/bundle',
  'flow/processes',
  'browser/console-use',
  'faults/storms',
  'matrix/limits',
  'fuzz/fuzz',
  'recorded/replay',
  'flow/forged-sound',
  'contract/openapi',
  'matrix/replays',
  'unit/formats/translated-answers',
  'cli/stage',
  'infra/deploy',
  'flow/json-faults',
  'matrix/accounts',
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
