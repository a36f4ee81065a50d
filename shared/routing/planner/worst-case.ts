// What a call must hold before a provider is called: its worst case (contract 6).
import type { Candidate } from '../../configuration/catalogue/index.ts';
import { chargedAnswersMax } from '../../foundation/constants/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';
import type { ChatRequest } from '../../protocol/wire/index.ts';
import { worstCaseCost } from '../billing/index.ts';
import { hasMedia } from './features.ts';

export const worstCaseOf = (request: ChatRequest, candidates: readonly Candidate[]): PicoUsd =>
  worstCaseCost(candidates, { ...sizeOf(request), bodyBytes: Buffer.byteLength(JSON.stringify(request.raw)) });

/** Of a workflow's step: answers of other steps come into its messages, so only the context bounds them. */
export const worstCaseOfStep = (request: ChatRequest, candidates: readonly Candidate[]): PicoUsd =>
  worstCaseCost(candidates, { ...sizeOf(request), bodyBytes: Number.MAX_SAFE_INTEGER, hasMedia: true });

const sizeOf = (request: ChatRequest) => ({
  hasMedia: hasMedia(request),
  maxOutputTokens: request.maxOutputTokens,
  choices: request.choices,
  answersMax: request.responseSchema === undefined ? 1 : chargedAnswersMax,
});
