// The request that a receiver of alerts gets, as a webhook.
import { alertBodyExample, alertTypes } from '../../../shared/accounting/alerts/index.ts';
import { type JsonSchema, objectSchema, text } from '../../../shared/protocol/description/index.ts';

const textOrNull = { type: ['string', 'null'] };
const amountOrNull = { ...textOrNull, pattern: '^\\d+(\\.\\d+)?$' };

/** Each field is always there. */
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

export const webhooks = {
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
