import { askedText, type Draft, type PlaygroundInterface } from './draft.ts';
import { imagesPython } from './sdk-code.ts';

interface PlaygroundImage {
  readonly b64_json?: string;
  readonly url?: string;
}

export const images: PlaygroundInterface = {
  title: 'Images',
  path: '/images/generations',
  hasStreams: false,
  hasTurns: false,
  body: ({ model, more, ...draft }: Draft) => ({ model, prompt: askedText(draft), ...more }),
  readAnswer: ({ data = [], output_format: format = 'png' }) => ({
    text: `${data.length} ${data.length === 1 ? 'image' : 'images'}`,
    images: data.map(({ b64_json: base64, url = '' }: PlaygroundImage) =>
      base64 === undefined ? url : `data:image/${format};base64,${base64}`,
    ),
  }),
  readEvent: () => ({}),
  python: imagesPython,
};
