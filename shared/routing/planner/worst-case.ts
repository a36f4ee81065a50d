// What a call must hold before a provider is called: its worst case (contract 6).
import type { Candidate } from '../../configuration/catalogue/index.ts';
import { chargedAnswersMax } from '../../foundation/constants/index.ts';
import type { PicoUsd } from '../../foundation/money/index.ts';
import type { ChatRequest } from '../../protocol/wire/index.ts';
import { type OutputSize, worstCaseCost } from '../billing/index.ts';
import { mediaOf } from './media.ts';

export function worstCaseOf(request: ChatRequest, candidates: readonly Candidate[]): PicoUsd {
  const { tokens: mediaTokens, dataCharacters } = mediaOf(request);
  const bodyBytes = Buffer.byteLength(JSON.stringify(request.raw)) - dataCharacters;
  return worstCaseCost(candidates, { ...outputSizeOf(request), ...answersOf(request), bodyBytes, mediaTokens });
}

/** Of a workflow's step: answers of other steps come into its messages, so only the context bounds them. */
export const worstCaseOfStep = (request: ChatRequest, candidates: readonly Candidate[]): PicoUsd =>
  worstCaseCost(candidates, {
    ...outputSizeOf(request),
    ...answersOf(request),
    bodyBytes: Number.MAX_SAFE_INTEGER,
    mediaTokens: undefined,
  });

export const outputSizeOf = ({ maxOutputTokens, choices, raw }: ChatRequest): OutputSize => ({
  maxOutputTokens,
  choices,
  predictionBytes: raw.prediction == null ? 0 : Buffer.byteLength(JSON.stringify(raw.prediction)),
});

const answersOf = ({ responseSchema }: ChatRequest) => ({
  answersMax: responseSchema === undefined ? 1 : chargedAnswersMax,
});
