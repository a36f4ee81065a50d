// What `--help` says, made of the definitions that the parser uses.
import type { Command } from './command.ts';
import type { OptionDefinition } from './input.ts';
import { targetOptions } from './target.ts';

const invocation = 'npm run gw --';

export const commonOptions: Readonly<Record<string, OptionDefinition>> = {
  ...targetOptions,
  json: { summary: 'one JSON document on standard output, and nothing else' },
  help: { summary: 'this text', short: 'h' },
};

export const confirmOption: Readonly<Record<string, OptionDefinition>> = {
  yes: { summary: 'do it without being asked' },
};

type AnyCommand = Pick<Command<never>, 'name' | 'summary' | 'parameters' | 'options' | 'asks' | 'notes'>;

/** `npm run gw -- keys create --workspace W --name N [--rpm N] STORE` */
export function usageLine({ name, parameters = [], options = {}, asks = false }: AnyCommand): string {
  const words = [
    ...parameters.map((parameter) => (parameter.isOptional === true ? `[${parameter.name}]` : parameter.name)),
    ...Object.entries({ ...options, ...(asks ? confirmOption : {}) }).map(usageOf),
  ];
  return [invocation, name, ...words, '(--stage NAME | --dynamodb URL | --data DIR)'].join(' ');
}

function usageOf([name, { value, isRequired = false, short }]: [string, OptionDefinition]): string {
  const flag = short === undefined ? `--${name}` : `-${short}`;
  const written = value === undefined ? flag : `${flag} ${value}`;
  return isRequired ? written : `[${written}]`;
}

export function commandHelp(command: AnyCommand): string[] {
  const { summary, options = {}, asks = false, notes = [] } = command;
  return [
    summary,
    '',
    `usage: ${usageLine(command)}`,
    '',
    ...describe(Object.entries({ ...options, ...(asks ? confirmOption : {}), ...commonOptions }).map(nameOf)),
    ...(notes.length === 0 ? [] : ['', ...notes]),
  ];
}

const nameOf = ([name, { value, short, summary }]: [string, OptionDefinition]): [string, string] => [
  `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`,
  summary,
];

export function generalHelp(commands: readonly AnyCommand[]): string[] {
  return [
    "The operator's command line of the gateway.",
    '',
    `usage: ${invocation} COMMAND … (--stage NAME | --dynamodb URL | --data DIR) [--json]`,
    '',
    ...describe(commands.map(({ name, summary }) => [name, summary])),
    '',
    ...describe(Object.entries(commonOptions).map(nameOf)),
    '',
    'COMMAND --help explains one command. Exit 0: done; 1: it failed or was declined; 2: the line cannot be run.',
  ];
}

function describe(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`);
}
