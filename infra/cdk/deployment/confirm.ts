// Asks the operator to confirm a destructive step.
import { createInterface } from 'node:readline/promises';

/** `question`: the step, as a sentence without its subject. Throws where the answer is not yes. */
export async function confirm(question: string, isConfirmed: boolean, print: (line: string) => void): Promise<void> {
  if (isConfirmed) {
    print(`--yes was passed: this will ${question}`);
    return;
  }
  if (!process.stdin.isTTY) throw new Error(`this would ${question}: pass --yes, as there is no terminal to ask on`);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`This would ${question}. Go on? [y/N] `);
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new Error('nothing was done');
}
