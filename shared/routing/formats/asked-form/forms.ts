import type { ProviderApi } from '../../../foundation/constants/index.ts';
import type { AnswerForm } from './answer-form.ts';
import { chatForm } from './chat-form.ts';
import { geminiForm } from './gemini-form.ts';
import { messageForm } from './message-form.ts';
import { responseForm } from './response-form.ts';

/** Converse streams in frames of its own, behind a path of its own, and embeddings never. */
export const answerForms: Readonly<Partial<Record<ProviderApi, AnswerForm>>> = {
  'chat-completions': chatForm,
  messages: messageForm,
  responses: responseForm,
  'generate-content': geminiForm,
};
