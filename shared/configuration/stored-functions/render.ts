// Fills in templates, without logic. A reference becomes the text of a value. Inserted text is never parsed as a
// template again, inherited properties do not exist, and the size of the result is bounded.
import { fail, type GatewayError } from '../../errors/index.ts';
import { plainBodyMaxBytes } from '../../foundation/constants/index.ts';
import { isJsonObject } from '../../protocol/wire/index.ts';
import type { MessageTemplate } from './function-document.ts';
import { formatReference, type Reference, readTemplate } from './template.ts';

/**
 * Bound of all texts of one provider call together, which is the largest body that a client itself may send on a plain
 * call.
 */
const renderedMaxBytes = plainBodyMaxBytes;

export interface StepOutput {
  /** The answer of the step, unchanged. */
  readonly text: string;
  /** The JSON in the answer, if there is any and a template needs a part of it. */
  readonly json: unknown;
}

export interface RenderScope {
  readonly input: unknown;
  /** Finished steps by id. */
  readonly steps: ReadonlyMap<string, StepOutput>;
}

export const noSteps: RenderScope['steps'] = new Map();

/**
 * Renders messages. Throws invalid_function_request if the input lacks a path, execution_failed if the answer of a step
 * lacks a path.
 */
export function renderMessages(messages: readonly MessageTemplate[], scope: RenderScope): MessageTemplate[] {
  const fill = createFiller(scope);
  return messages.map(({ content, ...message }) => ({
    ...message,
    content:
      typeof content === 'string'
        ? fill(content)
        : content.map((part) => (typeof part.text === 'string' ? { ...part, text: fill(part.text) } : part)),
  }));
}

/** Renders a template. Throws as `renderMessages` does. */
export const renderTemplate = (template: string, scope: RenderScope): string => createFiller(scope)(template);

/** Returns the value of a reference. Throws as `renderMessages` does. Null is a value like any other. */
export function valueAt(reference: Reference, { input, steps }: RenderScope): unknown {
  const value = reference.source === 'input' ? memberAt(input, reference.path) : outputAt(reference, steps);
  if (value === undefined) throw missing(reference);
  return value;
}

function outputAt({ step = '', path }: Reference, steps: RenderScope['steps']): unknown {
  const output = steps.get(step);
  if (output === undefined) throw new Error('a template was filled before the step it needs was done');
  return path.length === 0 ? output.text : memberAt(output.json, path);
}

function createFiller(scope: RenderScope): (template: string) => string {
  let bytes = 0;
  return (template) => {
    const texts: string[] = [];
    for (const part of readTemplate(template)) {
      const text = typeof part === 'string' ? part : textOf(valueAt(part, scope));
      bytes += Buffer.byteLength(text);
      if (bytes > renderedMaxBytes) throw tooLarge(part);
      texts.push(text);
    }
    return texts.join('');
  };
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

const position = /^(0|[1-9]\d{0,8})$/;

/** Returns undefined for an unknown path. A JSON value is never undefined. */
function memberAt(value: unknown, path: readonly string[]): unknown {
  let found = value;
  for (const name of path) {
    if (Array.isArray(found)) found = position.test(name) ? (found[Number(name)] as unknown) : undefined;
    else found = isJsonObject(found) && Object.hasOwn(found, name) ? found[name] : undefined;
    if (found === undefined) return undefined;
  }
  return found;
}

/**
 * Returns the code for a missing path. In the input it is the client's error, in the answer of a step it is the model's
 * error.
 */
const codeOf = ({ source }: Reference): 'invalid_function_request' | 'execution_failed' =>
  source === 'input' ? 'invalid_function_request' : 'execution_failed';

function missing(reference: Reference): GatewayError {
  const what = reference.source === 'input' ? 'input' : 'answer of the step';
  const message = `The ${what} has nothing for ${formatReference(reference)}.`;
  return fail(codeOf(reference), { message, param: reference.source === 'input' ? 'messages' : undefined });
}

const tooLarge = (part: string | Reference): GatewayError =>
  fail(typeof part === 'string' ? 'invalid_function_request' : codeOf(part), {
    message: `The templates of the function would become larger than ${renderedMaxBytes} bytes.`,
  });
