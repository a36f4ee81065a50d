// Escapes characters that JSON and YAML allow in their texts and that control the terminal which shows them.

/** Escapes characters in JSON and quoted YAML that control a terminal: C1 controls and marks of text direction. */
export const escapeControls = (text: string): string =>
  text.replace(
    /[\u007f-\u009f\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
