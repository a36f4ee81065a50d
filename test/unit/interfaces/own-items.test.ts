// No relayed provider gets items that the gateway wrote itself; everything else is sent unchanged.
import fc from 'fast-check';
import { describe, expect, it } from '#jest';
import { responses } from '../../../shared/protocol/interfaces/responses/index.ts';
import { jsonTextOf, readRequestBody } from '../../../shared/protocol/wire/index.ts';

const target = { model: 'up', zdr: false, wantsNoEffortWithTools: false, takesNewerBound: false } as const;
const options = {
  reasoningStyle: 'effort',
  effortOf: () => undefined,
  readsGoogleSignatures: false,
  reportsStreamUsage: true,
} as const;

function relayedBody(body: string): { readonly text: string; readonly leftOut: readonly string[] } {
  const bytes = Buffer.from(body);
  const read = readRequestBody(bytes, responses);
  if (read.kind === 'unreadable') throw read.error;
  const request = responses.readRequest(read.json, { bodyBytes: bytes.length, dropsUnusedFields: false });
  if (!('upstreamBody' in request)) throw request;
  return request.upstreamBody({ ...target, ...options, defaultBound: undefined });
}

type Item = Record<string, unknown>;
const sealedItem: Item = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gw1.a.b' };
const ownThinking: Item = { type: 'item_reference', id: 'rs_gw_a_0' };
const ownMessage: Item = { type: 'message', id: 'msg_gw_a_1', role: 'assistant', content: 'Yes.' };
const others: fc.Arbitrary<Item> = fc.oneof(
  fc.record({
    role: fc.constant('user'),
    content: fc.oneof(fc.string(), fc.constant('it is called rs_gw_a_0, "gw1.a')),
  }),
  fc.constantFrom<Item>(
    { type: 'reasoning', id: 'rs_2', summary: [], encrypted_content: 'theirs' },
    { type: 'function_call', call_id: 'c', name: 'f', arguments: '{"gw1.":"_gw_"}' },
    { type: 'function_call_output', call_id: 'c', output: 'msg_gw_a_1' },
  ),
);

describe('the input of a relayed Responses call', () => {
  it('loses what is sealed, thinking by reference and own ids: all else stays, in its order', () => {
    const item = fc.oneof(
      { weight: 3, arbitrary: others },
      { weight: 2, arbitrary: fc.constantFrom(sealedItem, ownThinking, ownMessage) },
    );
    fc.assert(
      fc.property(fc.array(item, { minLength: 1, maxLength: 12 }), (input) => {
        const { text, leftOut } = relayedBody(JSON.stringify({ model: 'a', input }));
        const expected = input
          .filter((one) => one !== sealedItem && one !== ownThinking)
          .map(({ id, ...rest }) => (id === ownMessage.id ? rest : { ...(id === undefined ? {} : { id }), ...rest }));
        expect(JSON.parse(text).input).toEqual(expected);
        const first = input.findIndex((one) => one === sealedItem || one === ownThinking);
        const path = `input[${first}]${input[first] === sealedItem ? '.encrypted_content' : ''}`;
        expect(leftOut).toEqual(first < 0 ? [] : [path]);
      }),
    );
  });

  it('is byte for byte what came if its texts only speak of such items', () => {
    const input =
      '[ {"role": "user",  "content": "_gw_ and gw1. and \\"gw1.", "n": 1.10, "big": 12345678901234567890} ]';
    expect(relayedBody(`{"model":"a","input":${input}}`).text).toContain(input);
  });

  it('keeps the bytes of the items beside one that is left out', () => {
    const item = '{"role":"user", "content":"Hi.", "n":1.10}';
    const { text } = relayedBody(`{"model":"a","input":[${item},${JSON.stringify(sealedItem)}]}`);
    expect(text).toContain(`"input":[${item}]`);
  });
});

describe('a body that was let go', () => {
  it('holds nothing of its text', () => {
    const json = jsonTextOf({ a: 'a'.repeat(100), b: [1, 2] });
    json.letGo();
    expect([json.text, json.tableBytes, json.members()]).toEqual(['', 0, []]);
  });
});
