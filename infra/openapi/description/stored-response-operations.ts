// The operations on a response that a provider keeps.
import { headerNames } from '../../../shared/foundation/constants/index.ts';
import { arrayOf, flag, objectSchema, text } from '../../../shared/protocol/description/index.ts';
import { codesOf, inPath, inQuery, jsonOperation } from './error-responses.ts';
import { parameters } from './headers.ts';

const shared = {
  parameters: [
    inPath('id', 'Of a response that this workspace has made within 30 days.'),
    {
      ...{ name: headerNames.byokKey, in: 'header', required: false, schema: text },
      description: 'The key of your own with which the response was made, where that was so.',
    },
    ...parameters.account,
  ],
  says: 'The answer of the provider.',
  codes: codesOf.storedResponse,
};
const costs = 'Asked of the account that keeps it. Costs nothing; counts against the requests per minute of the key.';
const response = objectSchema({ id: text, object: { const: 'response' } });
const passed = 'Reaches the provider, as any other name of the query.';

export const readResponse = jsonOperation({
  ...shared,
  operationId: 'readResponse',
  summary: 'A response, or its events again',
  description: `${costs} With \`stream=true\` server-sent events, byte for byte.`,
  parameters: [
    inQuery('stream', '`true`: as events.', flag),
    inQuery('starting_after', 'With `stream`: the number of the last event that is not wanted.', { type: 'integer' }),
    inQuery('include', passed),
    ...shared.parameters,
  ],
  answer: response,
});

export const deleteResponse = jsonOperation({
  ...shared,
  operationId: 'deleteResponse',
  summary: 'Delete a response',
  description: costs,
  answer: objectSchema({ id: text, deleted: { const: true } }),
});

export const cancelResponse = jsonOperation({
  ...shared,
  operationId: 'cancelResponse',
  summary: 'Cancel a response',
  description: `${costs} Providers refuse to cancel one that does not run in the background, and through the gateway none does.`,
  answer: response,
});

export const listInputItems = jsonOperation({
  ...shared,
  operationId: 'listInputItems',
  summary: 'The input of a response',
  description: costs,
  parameters: [...['after', 'limit', 'order', 'include'].map((name) => inQuery(name, passed)), ...shared.parameters],
  answer: objectSchema({ object: { const: 'list' }, data: arrayOf({}) }),
});
