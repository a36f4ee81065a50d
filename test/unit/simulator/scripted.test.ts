// The model that does what its user wrote: agents are driven by it, in every format.
import { afterAll, beforeAll, describe, expect, it } from '#jest';
import { type Simulator, startSimulator } from '../../../infra/local/simulator/index.ts';
import { ask, userMessage } from './simulated.ts';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator({ paceMs: 0 });
});
afterAll(() => simulator.stop());

const read = (path: string) => ({ tool: 'Read', arguments: { path } });
const asked = userMessage(`Please\nDo ${JSON.stringify([[read('a'), read('b')], [read('c')]])}`);
const tools = ['look', 'agent__Read'].map((name) => ({
  type: 'function',
  function: { name, parameters: { type: 'object' } },
}));

interface Message {
  readonly content: string | null;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { name: string; arguments: string } }[];
}
const answer = async (model: string, messages: readonly object[]): Promise<Message> =>
  JSON.parse((await ask(simulator, model, { messages, tools })).text).choices[0].message;
const results = ({ tool_calls: calls = [] }: Message) =>
  calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'here' }));

describe('a model that is scripted', () => {
  it('calls what its user names, a list for each answer, by the names of the tools that are there, and ends with a text', async () => {
    const first = await answer('scripted', [asked]);
    const second = await answer('scripted', [asked, { role: 'assistant', ...first }, ...results(first)]);
    const made = [first, second].map(({ tool_calls: calls = [] }) => calls.map((call) => call.function));
    const call = (path: string) => ({ name: 'agent__Read', arguments: JSON.stringify({ path }) });
    expect(made).toEqual([[call('a'), call('b')], [call('c')]]);
    const turns = [first, second].flatMap((turn) => [{ role: 'assistant', ...turn }, ...results(turn)]);
    const last = await answer('scripted', [asked, ...turns]);
    expect([last.tool_calls ?? [], last.content]).toEqual([[], expect.stringMatching(/^The tools answered/)]);
  });

  it('answers with a text where it is asked for a summary', async () => {
    const { tool_calls: calls = [], content } = await answer('scripted', [asked, userMessage('Write a summary.')]);
    expect([calls, content]).toEqual([[], expect.stringContaining('Write a summary.')]);
  });

  it('fails after as many answers as it is told', async () => {
    const statuses = [1, 2, 3].map(
      async () => (await ask(simulator, 'scripted:2', { messages: [asked], tools })).status,
    );
    expect((await Promise.all(statuses)).toSorted()).toEqual([200, 200, 500]);
  });

  it('refuses what is longer than its window', async () => {
    const statusOf = async (words: number) =>
      (await ask(simulator, 'window:50', { messages: [userMessage('word '.repeat(words))] })).status;
    expect([await statusOf(40), await statusOf(60)]).toEqual([200, 400]);
  });
});
