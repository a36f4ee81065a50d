/** The formats that a chat completion is translated into. */
export type TranslatedApi = 'messages' | 'converse' | 'generate-content';
