import { type Draft, exampleText, openAi, type PlaygroundInterface, pythonOf } from '../../playground/index.ts';

interface PlaygroundImage {
  readonly b64_json?: string;
  readonly url?: string;
}

const python = pythonOf(openAi, {
  name: 'images',
  method: 'generate',
  streamed: '',
  whole: `import base64
for at, image in enumerate(answer.data):
    name = f"image-{at}.png"
    print(name, open(name, "wb").write(base64.b64decode(image.b64_json)), "bytes")`,
  arguments: ['model', 'prompt', 'n', 'size', 'quality'],
});

export const playground: PlaygroundInterface = {
  title: 'Images',
  path: '/images/generations',
  hasStreams: false,
  hasTurns: false,
  body: ({ model, more, ...draft }: Draft) => ({ model, prompt: exampleText(draft), ...more }),
  readAnswer: ({ data = [], output_format: format = 'png' }) => ({
    text: `${data.length} ${data.length === 1 ? 'image' : 'images'}`,
    images: data.map(({ b64_json: base64, url = '' }: PlaygroundImage) =>
      base64 === undefined ? url : `data:image/${format};base64,${base64}`,
    ),
  }),
  openFold: undefined,
  python,
};
