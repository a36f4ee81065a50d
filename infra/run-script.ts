// Lines of a script, and its end: nothing, or one line on standard error and exit 1. One whose work cannot end, or
// whose reader has gone, is ended by require-node.cjs.

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
