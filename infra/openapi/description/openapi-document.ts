// Describes the whole interface as one OpenAPI 3.1 document, made from the gateway's own schemas and answers.

import { alertBodyExample, alertTypes } from '../../../shared/accounting/alerts/index.ts';
import { type JsonSchema, objectSchema, text } from '../../../shared/protocol/description/index.ts';
import { accountSchemas } from './account-schemas.ts';
import { componentSchemas } from './answer-schemas.ts';
import { errorTable } from './error-responses.ts';
import { manageSchemas } from './manage-operations.ts';
import { paths } from './operations.ts';
import { requestBodySchema } from './request-body.ts';

/** The address of `npm start`. */
export const defaultServerUrl = 'http://127.0.0.1:8787';

const description = [
  'One URL in the chat-completions format in front of every provider. The base URL of a client is that of this server and `/v1`.',
  'Every failure is one JSON envelope with a stable code: `x-gw-errors` has the cause and the solution of each. With `X-Gw-Error-Format: openai` it has the form that the SDKs of OpenAI read.',
  'Every call of a model but Messages, and the list of models, is served below `/openai/v1` too, the base URL for those SDKs and the frameworks on them: errors have that form without the header, a stream that broke ends with its error line, and `stream` with a `json_schema` is served.',
  'What is below `/v1/manage` is for operator keys, which open nothing else; a deployed stage has it where its settings say `console: true`.',
].join('\n\n');

/** Returns the document. `serverUrl` is the part before `/v1`. */
export const openApiDocument = (serverUrl: string = defaultServerUrl) => ({
  openapi: '3.1.0',
  info: { title: 'gw', version: 'v1', description, license: { name: 'Apache 2.0', identifier: 'Apache-2.0' } },
  servers: [{ url: serverUrl }],
  security: [{ apiKey: [] }],
  paths,
  webhooks,
  components: {
    securitySchemes: {
      operatorKey: { type: 'http', scheme: 'bearer', bearerFormat: 'sk-gw-…', description: 'A key of an operator.' },
      apiKey: { type: 'http', scheme: 'bearer', bearerFormat: 'sk-gw-…', description: 'A key of a workspace.' },
    },
    schemas: { ChatCompletionRequest: requestBodySchema(), ...componentSchemas, ...accountSchemas, ...manageSchemas() },
  },
  'x-gw-errors': errorTable(),
});

/**
 * Returns the document as a gateway serves it: URLs are relative to the document, because behind a distribution the
 * gateway does not know its own address.
 */
export const servedDescription = (): string => JSON.stringify(openApiDocument('/'));

// Describes the request that a receiver of alerts gets, as a webhook.

const textOrNull = { type: ['string', 'null'] };
const amountOrNull = { ...textOrNull, pattern: '^\\d+(\\.\\d+)?$' };

/** Schema of the body, each field of which is always present. */
const bodySchema: JsonSchema = objectSchema({
  text: { ...text, description: 'For Slack and alike.' },
  type: { ...text, enum: [...alertTypes] },
  workspace: textOrNull,
  key: { ...textOrNull, description: 'Name of the key.' },
  provider: textOrNull,
  model: { ...textOrNull, description: 'Whose call showed the state of the provider.' },
  percent: { type: ['integer', 'null'], minimum: 1, maximum: 100 },
  spent_usd: amountOrNull,
  limit_usd: amountOrNull,
  period: { ...textOrNull, format: 'date', description: 'First day of the period of the limit. Null: it has none.' },
  id: { ...text, description: 'The same in each try.' },
  at: { ...text, format: 'date-time' },
});

const signature = {
  name: 'X-Gw-Signature',
  in: 'header',
  description: 'Where `service.alerts` has a `secret`: `t=SECONDS,v1=HEX`, the HMAC-SHA256 of `SECONDS.BODY` under it.',
  schema: text,
};

const webhooks = {
  alert: {
    post: {
      operationId: 'receiveAlert',
      summary: 'An alert to the receiver of `service.alerts`',
      security: [],
      parameters: [signature],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: bodySchema, example: alertBodyExample() } },
      },
      responses: {
        '2XX': {
          description: 'It is delivered. Anything else, or nothing for 10 s: it is tried again, three times in all.',
        },
      },
    },
  },
};
