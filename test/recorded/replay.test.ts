// Recorded answers of real providers, if a folder of them is beside the checkout; `npm run test:recorded` shows each
// difference.
import { expect, it } from '#jest';
import { readRecordedAnswers, recordedFolder } from './recorded-answers.ts';
import { replayAnswers } from './replay.ts';

it('a recorded answer of a provider is for clients of every interface the same text, thinking, calls, end and tokens', async () => {
  const answers = readRecordedAnswers(recordedFolder);
  if (answers === undefined) return void process.stdout.write(`no folder ${recordedFolder}: nothing is replayed\n`);
  const { turns, faults } = await replayAnswers(answers);
  expect(faults).toEqual([]);
  expect(turns).toBe(3 * answers.length);
});
