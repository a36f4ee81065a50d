// Starts the slowest suites first, even in a fresh clone, where jest knows no times of an earlier run and sorts by
// size: a slow suite that begins last would extend the run while the other workers are idle.
import Sequencer from '@jest/test-sequencer';

/** Slow suites, the slowest first. A missing suite costs seconds of a run, and has no other effect. */
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
