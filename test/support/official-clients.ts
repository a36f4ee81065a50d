// Official SDKs that call the gateway of a test with its key. They never retry: a test counts the requests that a
// provider receives.
import Anthropic from '@anthropic-ai/sdk';
import { BedrockRuntimeClient, type BedrockRuntimeClientConfig } from '@aws-sdk/client-bedrock-runtime';
import { GoogleGenAI } from '@google/genai';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import OpenAI from 'openai';
import type { Harness } from './harness.ts';

type Served = Pick<Harness, 'url' | 'key'>;

export const openaiOf = ({ url, key }: Served, base: '/v1' | '/openai/v1' = '/v1'): OpenAI =>
  new OpenAI({ baseURL: new URL(base, url).href, apiKey: key, maxRetries: 0 });

export const anthropicOf = ({ url, key }: Served): Anthropic =>
  new Anthropic({ baseURL: new URL(url).origin, authToken: key, apiKey: null, maxRetries: 0 });

/** Returns a client that uses HTTP/1.1, unless `more` has another handler. */
export const bedrockOf = ({ url, key }: Served, more: BedrockRuntimeClientConfig = {}): BedrockRuntimeClient =>
  new BedrockRuntimeClient({
    region: 'us-east-1',
    endpoint: `${new URL(url).origin}/bedrock`,
    token: { token: key },
    authSchemePreference: ['httpBearerAuth'],
    maxAttempts: 1,
    requestHandler: new NodeHttpHandler(),
    ...more,
  });

export const googleOf = ({ url, key }: Served): GoogleGenAI =>
  new GoogleGenAI({ apiKey: key, httpOptions: { baseUrl: new URL(url).origin } });
