// JSON and YAML allow characters in their texts that steer the terminal that shows them.

/** Escapes, in JSON and quoted YAML, characters that control a terminal: C1 controls and marks of text direction. */
export const escapeControls = (text: string): string =>
  text.replace(
    /[\u007f-\u009f\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
