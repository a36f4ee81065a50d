// An operator at a terminal that a test can read. Each line runs as on the real command line, except for the process
// around it.
import { type ExitCode, run } from '../../infra/cli/args/run.ts';
import type { Style, Terminal } from '../../infra/cli/output/terminal.ts';
import { systemRandomness } from '../../shared/foundation/ids/index.ts';
import { type Clock, systemClock } from '../../shared/foundation/time/index.ts';

export interface OperatorOptions {
  /** Answers to questions, in their order. Absent if there is no operator to ask. */
  readonly answers?: readonly string[];
  readonly standardInput?: string;
  readonly variables?: Readonly<Record<string, string | undefined>>;
  readonly clock?: Clock;
  readonly style?: Style;
}

export interface Result {
  readonly code: ExitCode;
  readonly out: string;
  readonly error: string;
  readonly questions: readonly string[];
  readonly progress: readonly string[];
}

export const plain: Style = { columns: Number.POSITIVE_INFINITY, isColoured: false };

/** Runs a line, which is split at blanks. */
export async function operate(line: string | readonly string[], circumstances: OperatorOptions = {}): Promise<Result> {
  const { answers, standardInput = '', variables = {}, clock = systemClock, style = plain } = circumstances;
  const [out, error, questions, progress] = [[], [], [], []] as string[][] as [string[], string[], string[], string[]];
  const waiting = [...(answers ?? [])];
  const terminal: Terminal = {
    style,
    canAsk: answers !== undefined,
    writeOut: (text) => out.push(text),
    writeError: (text) => error.push(text),
    showProgress: (text) => progress.push(text),
    ask: async (question) => {
      questions.push(question);
      return waiting.shift() ?? '';
    },
    readSecret: async () => standardInput,
    readInput: async () => standardInput,
  };
  const words = typeof line === 'string' ? line.split(' ').filter((word) => word !== '') : line;
  const randomness = systemRandomness;
  const code = await run(words, { terminal, clock, randomness, variables });
  return { code, out: out.join('\n'), error: error.join('\n'), questions, progress };
}

/** Returns the document of a line that ends in `--json` and succeeds. */
export async function operateJson<Document>(line: string, circumstances: OperatorOptions = {}): Promise<Document> {
  const { code, out, error } = await operate(`${line} --json`, circumstances);
  if (code !== 0) throw new Error(`${line} ended with ${code}: ${error}`);
  return JSON.parse(out) as Document;
}
