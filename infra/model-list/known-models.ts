// Models that many people know, whose prices the page of the list shows beside those of the second source.
import type { ProviderKind } from '../../shared/configuration/model-list/index.ts';

const names: Partial<Record<ProviderKind, readonly string[]>> = {
  openai: [
    ...['gpt-4o', 'gpt-4o-mini', 'gpt-4.1', 'gpt-4.1-mini', 'gpt-4.1-nano', 'gpt-5', 'gpt-5-mini', 'gpt-5-nano'],
    ...['gpt-5.1', 'gpt-5.2', 'gpt-5.4', 'o3', 'o4-mini', 'text-embedding-3-small', 'text-embedding-3-large'],
  ],
  anthropic: [
    'claude-haiku-4-5',
    'claude-sonnet-4-5',
    'claude-sonnet-4-6',
    'claude-opus-4-5',
    'claude-opus-4-6',
    'claude-sonnet-5',
    'claude-opus-5',
  ],
  google: [
    'gemini-2.5-pro',
    'gemini-2.5-flash',
    'gemini-2.5-flash-lite',
    'gemini-3-flash-preview',
    'gemini-3.1-pro-preview',
  ],
  vertex: ['gemini-2.5-pro', 'gemini-2.5-flash'],
  bedrock: [
    'amazon.nova-micro-v1:0',
    'amazon.nova-pro-v1:0',
    'global.anthropic.claude-sonnet-4-5-20250929-v1:0',
    'eu.anthropic.claude-sonnet-4-5-20250929-v1:0',
    'eu.anthropic.claude-haiku-4-5-20251001-v1:0',
  ],
  groq: ['openai/gpt-oss-120b', 'openai/gpt-oss-20b'],
  mistral: ['mistral-large-latest', 'mistral-medium-latest', 'mistral-small-latest'],
  deepseek: ['deepseek-chat', 'deepseek-reasoner'],
  xai: ['grok-4.3', 'grok-4.5'],
};

export const knownModels = Object.entries(names).flatMap(([kind, all]) =>
  all.map((name) => ({ kind: kind as ProviderKind, name })),
);
