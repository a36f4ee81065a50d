// The end of a script: nothing, or one line on standard error and exit 1.

export async function runScript(name: string, work: () => unknown, usage?: string): Promise<void> {
  const fail = (reason: string | undefined) => {
    process.stderr.write(`${name}: ${reason}${usage === undefined ? '' : `; usage: ${usage}`}\n`);
    process.exitCode = 1;
  };
  // Node ends a process when nothing is left to do, also while it waits for an answer that cannot come any more.
  const onIdle = () => fail('it ended before its work was done');
  process.once('beforeExit', onIdle);
  try {
    await work();
  } catch (error) {
    fail((error instanceof Error ? error.message : String(error)).split('\n', 1)[0]);
  } finally {
    process.off('beforeExit', onIdle);
  }
}
