// The end of a script of the operator: nothing, or one line on standard error and exit 1.

export async function runScript(name: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n', 1);
    process.stderr.write(`${name}: ${reason}\n`);
    process.exitCode = 1;
  }
}
