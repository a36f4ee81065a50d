// `npm run test:recorded -- [FOLDER]` plays each recorded provider answer of a folder to a client of every interface.
import { runScript } from '../../infra/run-script.ts';
import useOneFolderForTheRun from '../support/temporary-folder.ts';
import { readRecordedAnswers, recordedFolder } from './recorded-answers.ts';
import { replayAnswers } from './replay.ts';

await runScript('test:recorded', async () => {
  const folder = process.argv[2] ?? recordedFolder;
  const answers = readRecordedAnswers(folder);
  if (answers === undefined) return void process.stdout.write(`skipped  there is no folder ${folder}\n`);
  useOneFolderForTheRun();
  const { turns, faults, wanted } = await replayAnswers(answers);
  for (const [reason, count] of wanted) process.stdout.write(`wanted   ${count} × ${reason}\n`);
  for (const { answer, client, aspect, expected, actual } of faults) {
    process.stdout.write(
      `FAILS    ${answer}, ${client}, ${aspect}: ${expected.slice(0, 300)} became ${actual.slice(0, 300)}\n`,
    );
  }
  if (faults.length > 0) throw new Error(`${faults.length} differences`);
  process.stdout.write(`ok       ${answers.length} recorded answers, ${turns} turns\n`);
});
