// The operations of the interfaces of clients, of what each says of itself.
import { type ErrorCode, okStatus } from '../../../shared/errors/index.ts';
import {
  type DescribedBody,
  flag,
  type InterfaceOperation,
  type JsonSchema,
  objectSchema,
  text,
  type VendorBody,
} from '../../../shared/protocol/description/index.ts';
import { codesOf, errorResponses, inPath } from './error-responses.ts';
import { parameters, responseHeaders } from './headers.ts';
import { requestBodySchema } from './request-body.ts';

/** Codes of chat completions alone. */
const chatOnly: ReadonlySet<ErrorCode> = new Set([
  'preset_not_found',
  'invalid_response_schema',
  'schema_streaming_unsupported',
  'schema_validation_failed',
]);
const functionOnly =
  /^(function_|revision_|execution_|spend_limit|api_key_|qualification|invalid_function_(alias|contract))/;
const relayedCodes = codesOf.chat.filter(
  (code) => !chatOnly.has(code) && (code === 'api_key_rate_limit' || !functionOnly.test(code)),
);

/** As in the body of a chat completion. */
const chatMembers = requestBodySchema().properties as Readonly<Record<string, JsonSchema>>;
const chatMember = (name: string): JsonSchema => chatMembers[name] ?? {};

const gatewayMembers = {
  model: { ...text, description: 'An id of `GET /v1/models` whose `apis` names the interface.' },
  models: chatMember('models'),
  provider: chatMember('provider'),
  cache: chatMember('cache'),
};

const headerParameters = (headers: Readonly<Record<string, string>>) =>
  Object.entries(headers).map(([name, description]) => ({
    name,
    in: 'header',
    required: false,
    description,
    schema: text,
  }));

const describedHeaders = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, description]) => [name, { description, schema: text }]));

/** Of the place where an interface is asked. */
interface OperationPlace {
  /** The path names the model. */
  readonly namesModel: boolean;
}

export const operationOf = (operation: InterfaceOperation, place: OperationPlace) =>
  operation.body.kind === 'vendor'
    ? vendorOperation(operation, operation.body, place)
    : describedOperation(operation, operation.body);

function describedOperation({ operationId, summary, description }: InterfaceOperation, body: DescribedBody) {
  const { bounds, schema, examples, answers } = body;
  return {
    operationId,
    summary,
    description,
    parameters: parameters.chat,
    requestBody: { required: true, description: bounds, content: { 'application/json': { schema, examples } } },
    responses: {
      [okStatus]: {
        description: 'The answer: JSON, or events with `stream: true`.',
        headers: { ...responseHeaders.onEvery, ...responseHeaders.onAnswers },
        content: answers,
      },
      ...errorResponses(codesOf.chat),
    },
  };
}

function vendorOperation(operation: InterfaceOperation, body: VendorBody, { namesModel }: OperationPlace) {
  const { operationId, summary, description } = operation;
  const { members, required, example, answer, streams, form } = body;
  const { model, ...others } = gatewayMembers;
  const ofGateway = namesModel ? others : { model, ...others };
  const asksInBody = streams && !namesModel;
  const properties = { ...ofGateway, ...members, ...(asksInBody ? { stream: flag } : {}) };
  const bodyOf = (fields: Readonly<Record<string, JsonSchema>>, needed: readonly string[]) => ({
    schema: objectSchema(fields, { optional: Object.keys(fields).filter((name) => !needed.includes(name)) }),
  });
  const { files = {}, needed: [file = '', ...otherNames] = [], isOnly = false } = form ?? {};
  const examples = { plain: { summary, value: example } };
  const fields = { ...properties, ...files };
  const { schema } = bodyOf(fields, otherNames.length === 0 ? [...required, file] : required);
  const anyOf = [file, ...otherNames].map((name) => ({ required: [name] }));
  const ofForm = { schema: otherNames.length === 0 ? schema : { ...schema, anyOf } };
  return {
    operationId,
    summary,
    description: `${description} With routing, limits, credit, idempotency and cache of a chat completion. Other members reach a provider that speaks the interface as they were sent.`,
    parameters: [
      ...(namesModel
        ? [inPath('model', 'An id of the list of models. Its slashes may stand as they are, or encoded.')]
        : []),
      ...parameters.chat,
      ...headerParameters(operation.requestHeaders ?? {}),
    ],
    requestBody: {
      required: true,
      description: form === undefined ? 'At most 4 MiB.' : 'At most 4 MiB; a form 25 MiB, on Lambda 4 MiB.',
      content: {
        ...(isOnly ? {} : { 'application/json': { ...bodyOf(properties, required), examples } }),
        ...(form && { 'multipart/form-data': isOnly ? { ...ofForm, examples } : ofForm }),
      },
    },
    responses: {
      [okStatus]: {
        description: `The answer of the provider${asksInBody ? ': JSON, or events with `stream: true`' : ''}.`,
        headers: {
          ...responseHeaders.onEvery,
          ...responseHeaders.onAnswers,
          ...describedHeaders(operation.answerHeaders ?? {}),
        },
        content: body.answerTypes
          ? Object.fromEntries(Object.entries(body.answerTypes).map(([type, schema]) => [type, { schema }]))
          : {
              'application/json': { schema: answer },
              ...(streams ? { 'text/event-stream': { schema: text } } : {}),
            },
      },
      ...errorResponses(relayedCodes),
    },
  };
}
