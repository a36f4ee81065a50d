// The end of a script: nothing, or one line on standard error and exit 1. One whose work cannot end is reported by require-node.cjs.

export async function runScript(name: string, work: () => unknown, usage?: string): Promise<void> {
  try {
    await work();
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
    process.stderr.write(`${name}: ${reason}${usage === undefined ? '' : `; usage: ${usage}`}\n`);
    process.exitCode = 1;
  }
}
