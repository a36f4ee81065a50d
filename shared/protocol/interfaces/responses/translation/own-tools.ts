// Translates tools that have a type of OpenAI, and that run at the client. Other models call them as functions, and the
// client gets the item that it expects.
import type { JSONSchema7 } from '@ai-sdk/provider';
import { isJsonObject, type JsonObject } from '../../../wire/index.ts';

export type OwnToolType = 'local_shell' | 'shell' | 'apply_patch' | 'tool_search' | 'computer';

interface OwnTool {
  /** Prefix of its calls' ids. */
  readonly idPrefix: string;
  readonly description: string;
  readonly parameters: JSONSchema7;
  /** Returns the fields of a call's item, from the arguments that a model wrote. */
  readonly toMembers: (input: JsonObject) => JsonObject;
  /** Returns the arguments, from an item that is sent again. */
  readonly toInput: (item: JsonObject) => unknown;
}

const object = (properties: Record<string, JSONSchema7>, ...required: string[]): JSONSchema7 => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const text: JSONSchema7 = { type: 'string' };
const texts: JSONSchema7 = { type: 'array', items: text };
const milliseconds: JSONSchema7 = { type: 'integer', description: 'In milliseconds.' };

/** Returns lines. If a model writes one text in place of a list, the text is one line of a shell. */
const lines = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : typeof value === 'string' ? [value] : [];
const words = (value: unknown): string[] => (typeof value === 'string' ? ['bash', '-lc', value] : lines(value));
const numberOrNull = (value: unknown): number | null => (typeof value === 'number' ? value : null);

const action = ({ action: actionValue }: JsonObject): JsonObject => {
  const { type: _type, ...input } = isJsonObject(actionValue) ? actionValue : {};
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== null));
};

export const ownTools: Readonly<Record<OwnToolType, OwnTool>> = {
  local_shell: {
    idPrefix: 'lsh',
    description: 'Runs a command on the machine of the user.',
    parameters: object({ command: texts, working_directory: text, timeout_ms: milliseconds }, 'command'),
    toMembers: ({ command, working_directory: folder, timeout_ms: timeoutMs, env }) => ({
      action: {
        type: 'exec',
        command: words(command),
        env: isJsonObject(env) ? env : {},
        timeout_ms: numberOrNull(timeoutMs),
        user: null,
        working_directory: typeof folder === 'string' ? folder : null,
      },
    }),
    toInput: action,
  },
  shell: {
    idPrefix: 'sh',
    description: 'Runs commands in a shell on the machine of the user.',
    parameters: object({ commands: texts, timeout_ms: milliseconds }, 'commands'),
    toMembers: ({ commands, timeout_ms: timeoutMs, max_output_length: length }) => ({
      action: {
        commands: lines(commands),
        timeout_ms: numberOrNull(timeoutMs),
        max_output_length: numberOrNull(length),
      },
      environment: { type: 'local' },
    }),
    toInput: action,
  },
  apply_patch: {
    idPrefix: 'apc',
    description:
      'Creates, changes or deletes one file. `diff`: the lines in the V4A format; not for a file that is deleted.',
    parameters: object(
      {
        operation: object(
          { type: { type: 'string', enum: ['create_file', 'update_file', 'delete_file'] }, path: text, diff: text },
          'type',
          'path',
        ),
      },
      'operation',
    ),
    toMembers: (input) => ({ operation: isJsonObject(input.operation) ? input.operation : input }),
    toInput: ({ operation }) => ({ operation }),
  },
  tool_search: {
    idPrefix: 'tsc',
    description: 'Searches for more tools. Those that are found can be called afterwards.',
    parameters: object({ query: text }, 'query'),
    toMembers: (input) => ({ arguments: input, execution: 'client' }),
    toInput: ({ arguments: input }) => input,
  },
  // Calls of this tool are in conversations that started with another model. No model gets the tool itself.
  computer: {
    idPrefix: 'cu',
    description: '',
    parameters: object({}),
    toMembers: (input) => ({ action: input, pending_safety_checks: [] }),
    toInput: ({ action: one, actions }) => one ?? { actions },
  },
};

/** Finds the tool by the type of a call's item. */
export const ownToolOfCall = (type: unknown): OwnToolType | undefined =>
  (Object.keys(ownTools) as OwnToolType[]).find((tool) => type === `${tool}_call`);
