// Runs a script and ends it: without output, or with one line on standard error and exit code 1. A script whose work
// cannot end, or whose reader has ended, is ended by require-node.cjs.

export const printLine = (line: string): void => void process.stdout.write(`${line}\n`);

export async function runScript(name: string, work: () => unknown, usage?: string): Promise<void> {
  try {
    await work();
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
    process.stderr.write(`${name}: ${reason}${usage === undefined ? '' : `; usage: ${usage}`}\n`);
    process.exitCode = 1;
  }
}
