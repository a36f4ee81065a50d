// Reads a start's gateway file, and describes an invalid one with a line per problem.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import {
  formatProblem,
  type Problem,
  type ReadFile,
  type ReadResult,
  readGatewayFile,
  readWithList,
} from '../../shared/configuration/gateway-file/index.ts';
import { readVariable } from '../../shared/foundation/environment/index.ts';

/**
 * Maximum number of problems that are shown. All are shown, because each must be corrected; a file with more is not a
 * gateway file.
 */
const problemsShownMax = 1_000;

export class InvalidGatewayFile extends Error {
  override readonly name = 'InvalidGatewayFile';
  readonly lines: readonly string[];
  constructor(file: string, problems: readonly Problem[]) {
    const shown = problems.slice(0, problemsShownMax).map((problem) => formatProblem(problem, 'the file'));
    const more = problems.length > shown.length ? [`and ${problems.length - shown.length} more problems`] : [];
    const lines = [...shown, ...more].map((line) => `${file}: ${line}`);
    super(lines.join('; '));
    this.lines = lines;
  }
}

/** Reads a file. Rejects with InvalidGatewayFile, or an Error with one line for the terminal. */
export async function readConfigFile(path: string): Promise<ReadFile> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    throw new Error(`cannot read the gateway file ${resolve(path)}`);
  }
  return valid(path, await readWithList(text, { region: readVariable('AWS_REGION') }));
}

/** Checks a file. Throws InvalidGatewayFile. */
export function checkGatewayFile(name: string, text: string): ReadFile {
  return valid(name, readGatewayFile(text));
}

function valid(name: string, result: ReadResult): ReadFile {
  if (result.ok) return result;
  throw new InvalidGatewayFile(name, result.problems);
}
