import { describe, expect, it } from '#jest';
import { promptRequest } from '../../../shared/configuration/stored-functions/index.ts';
import { message, promptOf, refusalOf } from '../../support/function-revisions.ts';

describe('the provider call of a prompt', () => {
  it('has the model, the filled messages, the fixed options and the response format, and what the client may add', () => {
    const content = promptOf({
      fallback_models: ['acme/small-1', 'auto'],
      messages: [message('system', 'Be brief.'), message('user', 'Label: {{input.ticket}}')],
      options: { temperature: 0, provider: { zdr: true } },
      response_format: { type: 'json_object' },
      input: { type: 'object', schema: {} },
    });
    expect(promptRequest(content, { input: { ticket: 'x' }, passed: { user: 'u' } })).toEqual({
      body: {
        model: 'acme/large-1',
        messages: [
          { role: 'system', content: 'Be brief.' },
          { role: 'user', content: 'Label: x' },
        ],
        user: 'u',
        temperature: 0,
        provider: { zdr: true },
        response_format: { type: 'json_object' },
      },
      fallbackModels: ['acme/small-1', 'auto'],
    });
  });

  it('names no response format where the revision has none', () => {
    const { body } = promptRequest(promptOf(), { input: 'x', passed: {} });
    expect(Object.keys(body)).toEqual(['model', 'messages']);
  });

  it('ends with the input where no message refers to it, as a client would write it', () => {
    const content = promptOf({ messages: [message('system', 'Be brief.')] });
    expect(promptRequest(content, { input: 'Hello {{input}}', passed: {} }).body.messages).toEqual([
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'Hello {{input}}' },
    ]);
  });

  it('is not made from an input that lacks a path', async () => {
    const content = promptOf({ messages: [message('user', '{{input.a}}')], input: { type: 'object', schema: {} } });
    await refusalOf('invalid_function_request', () => promptRequest(content, { input: {}, passed: {} }));
  });
});
