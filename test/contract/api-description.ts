// Reads the description of the API as its readers do: finds an answer in it, and checks the answer against its schema.
import { Validator } from '@cfworker/json-schema';
import { openApiDocument } from '../../infra/openapi/description/index.ts';

type Json = Record<string, unknown>;

/** The description as any tool reads it, as plain JSON. */
export const description = JSON.parse(JSON.stringify(openApiDocument())) as Json & {
  readonly components: { readonly schemas: Readonly<Record<string, Json>> };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};

export interface Operation {
  readonly responses: Readonly<Record<string, DescribedResponse>>;
}

export interface DescribedResponse {
  readonly description: string;
  readonly headers: Json;
  readonly content: Readonly<Record<string, { schema: Json; examples?: Json; 'x-gw-event-data'?: Json }>>;
}

const { components } = description;

/** Validators by the text of their schemas, because each reads all components when it is made. */
const validators = new Map<string, Validator>();

function validatorOf(schema: Json): Validator {
  const text = JSON.stringify(schema);
  const validator = validators.get(text) ?? new Validator({ components, ...schema }, '2020-12');
  validators.set(text, validator);
  return validator;
}

export function faultsOf(schema: Json, value: unknown): string[] {
  const { valid, errors } = validatorOf(schema).validate(value);
  return valid ? [] : errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`);
}

export const componentSchema = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

export const operationOf = (method: string, path: string): Operation => {
  const operation = description.paths[path]?.[method.toLowerCase()];
  if (operation === undefined) throw new Error(`${method} ${path} is not described`);
  return operation;
};

/** Matches headers of HTTP, of browsers and of proxies, which are no part of the interface. */
const transportHeader =
  /^(access-control-|cache-control$|connection$|content-|date$|keep-alive$|transfer-encoding$|x-accel-buffering$)/;

/** Returns every difference between a real answer and its description. */
export async function differencesOf(operation: Operation, response: Response): Promise<string[]> {
  const description = operation.responses[String(response.status)];
  if (description === undefined) return [`the status ${response.status} is not described`];
  const mediaType = (response.headers.get('content-type') ?? '').split(';')[0] ?? '';
  const content = description.content[mediaType];
  if (content === undefined) return [`${mediaType} is not described`];
  const headers = [...response.headers.keys()]
    .filter((name) => !transportHeader.test(name) && !Object.hasOwn(description.headers, name))
    .map((name) => `the header ${name} is not described`);
  const text = await response.text();
  const eventSchema = content['x-gw-event-data'];
  if (eventSchema === undefined) return [...headers, ...faultsOf(content.schema, JSON.parse(text))];
  return [...headers, ...eventsOf(text).flatMap((event) => faultsOf(eventSchema, event))];
}

/** Returns the data of each event, parsed if it is JSON. */
const eventsOf = (text: string): unknown[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length))
    .map((data) => (data === '[DONE]' ? data : JSON.parse(data)));
