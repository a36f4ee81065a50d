// The interface of its provider in which a client reaches a candidate.
import { describe, expect, it } from '#jest';
import { type Candidate, serves } from '../../../shared/configuration/catalogue/index.ts';
import type { InterfaceId, ProviderApi } from '../../../shared/foundation/constants/index.ts';
import type { HubNeedKind } from '../../../shared/protocol/wire/index.ts';
import { chooseFormat } from '../../../shared/routing/formats/index.ts';

const candidate = (model: string, apis: readonly ProviderApi[], more: Partial<Candidate> = {}) =>
  ({ model: { id: model }, entry: { upstream_model: model }, provider: { apis }, ...more }) as unknown as Candidate;

const way = (to: Candidate, interfaceId: InterfaceId, ...kinds: HubNeedKind[]) => {
  const found = chooseFormat(to, { interfaceId, hubNeeds: () => kinds.map((kind) => ({ kind, member: kind })) });
  return found?.kind === 'hub' ? found.api : found?.kind;
};

describe('the way to a candidate', () => {
  it('leads clients of chat completions to Responses if thinking beside tools is to be had there alone', () => {
    const both = candidate('gpt-5.4', ['chat-completions', 'responses']);
    expect(way(both, 'chat-completions', 'effort_with_tools')).toBe('responses');
    expect(way(both, 'chat-completions')).toBe('relay');
    expect(way(both, 'responses', 'effort_with_tools')).toBe('relay');
    expect(way(candidate('gpt-5.4', ['chat-completions']), 'chat-completions', 'effort_with_tools')).toBe('relay');
    expect(way(candidate('gpt-4o', ['chat-completions', 'responses']), 'chat-completions', 'effort_with_tools')).toBe(
      'relay',
    );
  });

  it('leads embeddings to the form that the kind of a provider has for them, and below its OpenAI path to that', () => {
    const of = (kind: string, base_url: string, apis: readonly ProviderApi[] = ['embeddings']) =>
      candidate('embed', apis, { provider: { kind, base_url, apis } as unknown as Candidate['provider'] });
    const wayOf = (to: Candidate) => {
      const found = chooseFormat(to, { interfaceId: 'embeddings', hubNeeds: () => [] });
      return found?.kind === 'task' ? found.api : found?.kind;
    };
    expect(wayOf(of('bedrock', 'https://bedrock-runtime.eu-west-1.amazonaws.com'))).toBe('converse');
    expect(wayOf(of('google', 'https://generativelanguage.googleapis.com/v1beta'))).toBe('generate-content');
    expect(wayOf(of('google', 'https://generativelanguage.googleapis.com/v1beta/openai'))).toBe('relay');
    expect(wayOf(of('bedrock', 'https://bedrock-runtime.eu-west-1.amazonaws.com/openai/v1'))).toBe('relay');
    expect(wayOf(of('openai', 'https://api.openai.com/v1'))).toBe('relay');
    expect(wayOf(of('google', 'https://generativelanguage.googleapis.com/v1beta', ['generate-content']))).toBe(
      undefined,
    );
  });

  it('is open to clients of chat completions alone if translation is switched off', () => {
    const switchedOff = candidate('claude-opus-4-5', ['converse'], { isTranslationOff: true });
    expect(way(switchedOff, 'chat-completions')).toBe('converse');
    for (const id of ['messages', 'count-tokens', 'responses', 'embeddings'] as const) {
      expect([way(switchedOff, id), serves(switchedOff, id)]).toEqual([undefined, false]);
    }
  });
});
