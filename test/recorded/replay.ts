// Plays each recorded answer to a client of each interface through the gateway, and compares the client's turn with the
// turn that the package of the provider's format reads in the original bytes.

import { type ClientName, clientsOf, outcomeOf } from '../support/client-turns.ts';
import { startHarness } from '../support/harness.ts';
import { differences, type TurnDifference } from '../support/recorded-turn.ts';
import { startScriptedProvider } from '../support/scripted-provider.ts';
import { readOriginal } from './original-turn.ts';
import type { RecordedAnswer } from './recorded-answers.ts';
import { reasonOf } from './wanted-differences.ts';

export interface Fault extends TurnDifference {
  readonly answer: string;
  readonly client: ClientName;
}

export interface Replayed {
  readonly turns: number;
  readonly faults: readonly Fault[];
  /** The number of wanted differences by reason. */
  readonly wanted: ReadonlyMap<string, number>;
}

const apis = ['chat-completions', 'messages', 'responses', 'converse', 'generate-content'] as const;

/** These bounds are above what any recorded answer reports. */
const bounds = { context_length: 2_000_000, max_output_tokens: 100_000 };

export async function replayAnswers(answers: readonly RecordedAnswer[]): Promise<Replayed> {
  let played: RecordedAnswer | undefined;
  const provider = await startScriptedProvider((outgoing) => {
    outgoing.writeHead(played?.status ?? 500, { 'content-type': played?.contentType });
    outgoing.end(played?.bytes);
  });
  const gateway = await startHarness({
    models: Object.fromEntries(
      apis.map((api) => [`recorded/${api}`, [{ provider: api, upstream: 'recorded', more: bounds }]]),
    ),
    modelMembers: Object.fromEntries(apis.map((api) => [`recorded/${api}`, { context_length: bounds.context_length }])),
    providers: Object.fromEntries(apis.map((api) => [api, { apis: [api], base_url: provider.url }])),
  });
  const clients = Object.entries(clientsOf(gateway)) as [ClientName, ReturnType<typeof clientsOf>[ClientName]][];
  const faults: Fault[] = [];
  const wanted = new Map<string, number>();
  let turns = 0;
  try {
    for (const answer of answers) {
      const original = await readOriginal(answer);
      const toolNames = 'error' in original ? [] : [...new Set(original.calls.map(({ name }) => name))];
      played = answer;
      for (const [client, ask] of clients) {
        const turnOptions = { model: `recorded/${answer.api}`, isStream: answer.isStream, toolNames };
        const outcome = await outcomeOf(ask(turnOptions));
        turns += 1;
        for (const difference of differences(original, outcome)) {
          const reason = reasonOf(answer, client, difference.aspect);
          if (reason === undefined) faults.push({ answer: answer.name, client, ...difference });
          else wanted.set(reason, (wanted.get(reason) ?? 0) + 1);
        }
      }
    }
  } finally {
    await gateway.stop();
    await provider.stop();
  }
  return { turns, faults, wanted };
}
