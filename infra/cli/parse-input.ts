// From the words behind a command to its checked input.
import { parseArgs } from 'node:util';
import type { Input, OptionDefinition, Parameter } from './input.ts';
import { UsageError } from './usage-error.ts';

export interface Definitions {
  readonly parameters: readonly Parameter[];
  readonly options: Readonly<Record<string, OptionDefinition>>;
}

/** Throws UsageError: unknown or repeated options, missing ones, the wrong number of arguments. */
export function parseInput({ parameters, options }: Definitions, words: readonly string[]): Input {
  const { values, positionals } = parse(options, words);
  const texts = new Map<string, string>();
  for (const [name, written] of Object.entries(values)) {
    if (!Array.isArray(written)) continue;
    if (written.length > 1) throw new UsageError(`--${name} is written twice`);
    texts.set(name, String(written[0]));
  }
  for (const [name, { isRequired, value }] of Object.entries(options)) {
    if (isRequired === true && !texts.has(name)) throw new UsageError(`--${name} ${value} is required`);
  }
  const least = parameters.filter(({ isOptional }) => isOptional !== true).length;
  if (positionals.length < least) throw new UsageError(`${parameters[positionals.length]?.name} is missing`);
  // Not repeated: a secret may stand where none is expected.
  if (positionals.length > parameters.length) throw new UsageError(tooMany(parameters));
  const parameter = (name: string) => positionals[parameters.findIndex((known) => known.name === name)];
  return {
    parameter: (name) => present(parameter(name), name),
    optionalParameter: parameter,
    required: (option) => present(texts.get(option), option),
    text: (option) => texts.get(option),
    isSet: (option) => values[option] === true,
  };
}

function parse(options: Definitions['options'], words: readonly string[]) {
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      options: Object.fromEntries(
        Object.entries(options).map(([name, { value, short }]) => [
          name,
          {
            ...(value === undefined ? { type: 'boolean' as const } : { type: 'string' as const, multiple: true }),
            ...(short === undefined ? {} : { short }),
          },
        ]),
      ),
    });
  } catch (error) {
    throw new UsageError(wordsOf(error));
  }
}

/** Of node's sentences the first part: what follows are ways to write what is rarely meant. */
function wordsOf(error: unknown): string {
  const [first = ''] = (error instanceof Error ? error.message : '').split(/\. |\n/);
  return `${first.charAt(0).toLowerCase()}${first.slice(1)}`.replace(/\.$/, '');
}

function tooMany(parameters: readonly Parameter[]): string {
  if (parameters.length === 0) return 'takes no arguments, only options';
  return `takes ${parameters.length === 1 ? 'one argument' : `${parameters.length} arguments`} at most`;
}

function present(text: string | undefined, name: string): string {
  if (text === undefined) throw new Error(`the command did not define ${name} as required`);
  return text;
}
