// Runs a script. After a failure it prints one line on standard error and sets exit code 1. require-node.cjs ends a
// script whose work cannot end, or whose reader has ended.

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
