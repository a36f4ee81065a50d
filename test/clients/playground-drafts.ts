// Drafts of the playground, and a gateway for them: each interface, whole and as a stream, and a function.

import { spokenPieces } from '../../infra/local/simulator/formats/openai-speech.ts';
import { type InterfaceName, interfaceNames, interfaces } from '../../shared/protocol/interface-pages/index.ts';
import type { Draft } from '../../shared/protocol/playground/index.ts';
import { promptFunction } from '../support/gateway-file.ts';
import { startHarness } from '../support/harness.ts';

export const png =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** A text that could end a quote, a document or an argument of a shell. */
export const hostile = `It's "quoted", $HOME, \`id\`, \\ and\nEND_OF_REQUEST\n$(exit 3) """ True, None`;

/** A file whose name could end a quote. */
export const audio = new File([Buffer.concat(spokenPieces('one two three', 'wav'))], `it's "one".wav`, {
  type: 'audio/wav',
});

export const startPlaygroundGateway = () =>
  startHarness({
    models: {
      'acme/echo': [{ provider: 'acme', upstream: 'echo', more: { max_output_tokens: 64_000 } }],
      'initech/echo': [{ provider: 'initech', upstream: 'echo' }],
    },
    providers: { initech: { apis: ['embeddings', 'images', 'moderations', 'rerank', 'speech', 'transcriptions'] } },
    workspace: { functions: [promptFunction('label', 'acme/echo')] },
  });

export const draft = (more: Partial<Draft> = {}): Draft => ({
  model: 'acme/echo',
  system: 'Be brief.',
  turns: [
    { role: 'user', text: 'What is it?', images: [png] },
    { role: 'assistant', text: '', calls: [{ id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' }] },
    { role: 'tool', results: [{ id: 'call_1', text: 'rain' }] },
    { role: 'assistant', text: 'Rain.', calls: [] },
    { role: 'user', text: hostile, images: [] },
  ],
  temperature: 0.5,
  outputTokensMax: 64,
  tools: [{ name: 'weather', description: 'The weather', parameters: { type: 'object', properties: {} } }],
  // The second field is one of the gateway alone, which no SDK knows.
  more: { user: 'u-1', provider: { sort: 'price', allow_fallbacks: true, max_price: null } },
  streams: false,
  ...more,
});

type NamedDraft = readonly [title: string, name: InterfaceName, draft: Draft];

export const drafts: readonly NamedDraft[] = [
  ...interfaceNames.flatMap((name) => {
    const forms = interfaces[name].hasStreams ? [false, true] : [false];
    const { user, ...members } = draft().more;
    const more = name === 'messages' ? { metadata: { user_id: user }, ...members } : { user, ...members };
    const model = interfaces[name].hasTurns ? 'acme/echo' : 'initech/echo';
    const file = 'file' in interfaces[name] ? audio : undefined;
    return forms.map(
      (streams): NamedDraft => [`${name}${streams ? ', streamed' : ''}`, name, draft({ model, streams, more, file })],
    );
  }),
  ['transcriptions, streamed', 'transcriptions', draft({ model: 'initech/echo', more: { stream: true }, file: audio })],
  ['a function', 'chat-completions', draft({ model: 'gw/function/label', more: {} })],
  ['a long answer that is not streamed', 'messages', draft({ outputTokensMax: 64_000, more: {} })],
];
